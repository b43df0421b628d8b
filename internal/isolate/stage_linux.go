//go:build amd64 || arm64

package isolate

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// linkFile is the descriptor of init's end of the link.
const linkFile = 3

// Stage makes this process a sandbox's init if it was started as one, and does
// not return then. It must be the first statement of main.
func Stage() {
	if len(os.Args) == 0 || os.Args[0] != stageName {
		return
	}
	runtime.LockOSThread() // what is given up, and the filters, are a thread's
	// Also what agentd inherited from whoever started it.
	_ = unix.CloseRange(linkFile, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(unsafe.StringData("agentd-init\x00"))), 0, 0, 0) //nolint:gosec // what ps shows
	i := initProcess{link{os.NewFile(linkFile, "link")}}
	if err := i.run(); err != nil {
		_ = i.link.report(report{Failed: err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
}

// Harden keeps other processes of the same user out of this one's memory and
// descriptors, and its memory out of core files.
func Harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep others out of this process's memory: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core files off: %w", err)
	}
	return nil
}

// initProcess is process 1 of a sandbox.
type initProcess struct{ link link }

// run furnishes the sandbox and sees the command to its end. An error means
// that nothing was started.
func (i initProcess) run() error {
	if os.Getpid() != 1 {
		return errors.New("this is no sandbox: only agentd starts one")
	}
	// Asked for by agentd as well; becoming capable may have cleared it.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("die with agentd: %w", err)
	}
	o, files, err := i.link.receiveOrder()
	if err != nil {
		return fmt.Errorf("read what to run: %w", err)
	}
	if err := furnish(o); err != nil {
		return err
	}
	signals := listenSignals() // from here on the command may be stopped
	if err := i.link.report(report{Begun: true}); err != nil {
		return err
	}
	if o.Argv[0] == nothing {
		return i.link.report(report{End: &End{}})
	}
	pid, err := startCommand(o, files)
	if err != nil {
		return err
	}
	limitMemory(pid, o.Config.Memory)
	w := &watcher{config: o.Config, command: pid, signals: signals, gone: i.gone(), page: int64(os.Getpagesize())}
	_ = i.link.report(report{End: w.watch()}) // who is gone is not told
	w.linger()
	return nil
}

// startCommand starts the command and lets go of its files, so that they end
// with it.
func startCommand(o order, files []*os.File) (pid int, err error) {
	p, err := os.StartProcess(o.Argv[0], o.Argv, &os.ProcAttr{
		Dir: o.Dir, Env: o.Env, Files: files, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	for _, f := range files {
		_ = f.Close() // the command has its own
	}
	if err != nil {
		return 0, err
	}
	return p.Pid, nil
}

// furnish makes the command's world, and takes from this thread what the
// command must not have.
func furnish(o order) error {
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"map the user", func() error { return mapUser(o.UID, o.GID) }},
		{"mount", func() error { return mountAll(o.Config) }},
		{"loopback", func() error { return loopback(o.Config.Network) }},
		{"limits", func() error { return limit(o.Config) }},
		{"capabilities", dropCapabilities},
		{"no_new_privs", func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }},
		{"landlock", func() error { return restrict(o.Config) }},
		{"seccomp", filter},
		// The command is the same user; it must not look into its init.
		{"dumpable", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

// mapUser maps agentd's user and group. Root becomes an ordinary user.
func mapUser(uid, gid int) error {
	for _, file := range []struct{ name, text string }{
		{"setgroups", "deny"}, {"uid_map", mapping(uid)}, {"gid_map", mapping(gid)},
	} {
		if err := os.WriteFile("/proc/self/"+file.name, []byte(file.text), 0); err != nil {
			return err
		}
	}
	return nil
}

// ordinaryID is what root is called inside.
const ordinaryID = 1000

func mapping(outside int) string {
	inside := outside
	if inside == 0 {
		inside = ordinaryID
	}
	return fmt.Sprintf("%d %d 1", inside, outside)
}

// gone is closed when agentd is.
func (i initProcess) gone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _, _ = i.link.receive(make([]byte, 1), nil) // there is one order: it is the end
	}()
	return gone
}

// loopback switches the network namespace's own loopback device on.
func loopback(network Network) error {
	if network != NetworkNone {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// dropCapabilities gives up all capabilities of this thread, for good.
func dropCapabilities() error {
	for c := range unix.CAP_LAST_CAP + 1 {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EINVAL) { // a kernel that does not know it
			return fmt.Errorf("capability %s: %w", strconv.Itoa(c), err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

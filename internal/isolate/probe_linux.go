//go:build amd64 || arm64

package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// trialTime is how long a trial may take.
const trialTime = 10 * time.Second

// nothing is the program of a trial: the sandbox is made, and nothing started.
const nothing = "(nothing)"

// Probe finds out what this machine can do: it looks each part up, and then
// makes a sandbox as for a command, with nothing to run, so that what it says is
// not a guess. It takes some milliseconds.
func Probe(ctx context.Context) Machine {
	var m Machine
	for _, part := range []func() Part{kernel, userNamespaces, landlock, seccomp} {
		m.Parts = append(m.Parts, part())
	}
	if len(m.Missing()) == 0 { // else the trial would only say it again, and worse
		m.Parts = append(m.Parts, trial(ctx, NetworkNone))
	}
	m.Parts = append(m.Parts, hostNetwork(), taskBound())
	return m
}

func kernel() Part {
	var u unix.Utsname
	_ = unix.Uname(&u) // it fails for a bad address alone
	p := Part{Name: "Linux", Needed: true, Detail: unix.ByteSliceToString(u.Release[:]) + ", " + runtime.GOARCH}
	err := unix.MountSetattr(-1, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: readOnly})
	p.OK = !errors.Is(err, unix.ENOSYS)
	if !p.OK {
		p.Remedy = "Linux 5.19 or later is needed"
	}
	return p
}

// userNamespaces reads the switches that distributions have, to name the one
// that is off.
func userNamespaces() Part {
	p := Part{Name: "user namespaces", OK: true, Needed: true, Detail: "available"}
	for _, s := range []struct{ file, off, remedy string }{
		{"user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=1024"},
		{"kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"},
	} {
		value, err := os.ReadFile("/proc/sys/" + s.file)
		if err == nil && strings.TrimSpace(string(value)) == s.off {
			return Part{Name: p.Name, Needed: true, Detail: "/proc/sys/" + s.file + " is " + s.off, Remedy: "as root: " + s.remedy}
		}
	}
	if _, err := os.Stat("/proc/self/ns/user"); err != nil {
		return Part{Name: p.Name, Needed: true, Detail: "this kernel has none", Remedy: "a kernel with CONFIG_USER_NS"}
	}
	return p
}

func landlock() Part {
	p := Part{Name: "Landlock", Needed: true}
	version, err := landVersion()
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		p.Detail, p.Remedy = "switched off at boot", "add landlock to lsm= on the kernel's command line"
	case err != nil:
		p.Detail, p.Remedy = err.Error(), "Linux 5.19 or later with CONFIG_SECURITY_LANDLOCK; in a container, a seccomp profile that allows landlock_create_ruleset"
	case version < landWithRefer:
		p.Detail, p.Remedy = fmt.Sprintf("version %d", version), "Linux 5.19 or later, which has version 2"
	default:
		p.OK, p.Detail = true, fmt.Sprintf("version %d", version)
	}
	return p
}

func seccomp() Part {
	p := Part{Name: "seccomp", Needed: true}
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	if err := seccompKnows(&action); err != nil {
		p.Detail, p.Remedy = err.Error(), "a kernel with CONFIG_SECCOMP_FILTER"
		return p
	}
	p.OK, p.Detail = true, "available"
	return p
}

// hostNetwork says whether NetworkHost can be asked for.
func hostNetwork() Part {
	p := Part{Name: networkPart, Detail: "tools can be let out to some TCP ports and not to agentd's"}
	version, err := landVersion()
	p.OK = err == nil && version >= landWithNet
	if !p.OK {
		p.Detail, p.Remedy = "tools cannot be let out without reaching agentd", "Linux 6.7 or later, for Landlock version 4; tools.network: none does without"
	}
	return p
}

// taskBound says what bounds the processes of a command beside the watcher.
func taskBound() Part {
	p := Part{Name: "process limit", OK: true, Detail: "RLIMIT_NPROC and a count 40 times a second"}
	if os.Geteuid() != 0 {
		return p
	}
	var u unix.Utsname
	_ = unix.Uname(&u) // as in kernel
	p.Detail = "pid_max of the sandbox and a count 40 times a second, since RLIMIT_NPROC does not bind root"
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor)
	if err != nil || major < 6 || major == 6 && minor < 14 {
		p.OK, p.Detail = false, "only a count 40 times a second, since RLIMIT_NPROC does not bind root"
		p.Remedy = "run agentd as a user other than root, or on Linux 6.14 or later"
	}
	return p
}

// trial makes a sandbox with nothing in it.
func trial(ctx context.Context, network Network) Part {
	p := Part{Name: "trial", OK: true, Needed: true}
	began := time.Now()
	if err := try(ctx, network); err != nil {
		p.OK, p.Detail, p.Remedy = false, err.Error(), remedyOf(err)
		return p
	}
	p.Detail = fmt.Sprintf("a sandbox was made in %s", time.Since(began).Round(100*time.Microsecond))
	return p
}

func try(ctx context.Context, network Network) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	s := &Sandbox{config: Config{Network: network}.withDefaults(), closed: true} // for one command
	child, err := s.Start(Spec{Argv: []string{nothing}, Dir: "/", Files: []*os.File{null, null, null}})
	if err != nil {
		return err
	}
	timer := time.NewTimer(trialTime)
	defer timer.Stop()
	select {
	case <-child.Ended():
	case <-timer.C:
		child.Kill()
	case <-ctx.Done():
		child.Kill()
	}
	_, err = child.Wait()
	return errors.Join(err, ctx.Err())
}

// remedyOf guesses what forbids it. Containers and AppArmor do so with the
// same two errors.
func remedyOf(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "map the user"), strings.Contains(text, "cut off from"):
		return "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns=1): give agentd a profile with userns, or set it to 0"
	case strings.Contains(text, "mount /proc"):
		return "this container hides parts of /proc: run it with --security-opt systempaths=unconfined"
	case strings.Contains(text, "operation not permitted"), strings.Contains(text, "no space left"):
		return "this container or kernel forbids new user namespaces: allow clone with CLONE_NEWUSER in its seccomp profile, and user.max_user_namespaces above 0"
	}
	return "run agentd doctor on the machine itself, outside of containers, to compare"
}

package exec

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make the command the leader of a session and a group of its own,
// without our terminal, which dies with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// exit waits in two steps: while the command has ended but is not reaped, its
// id still names its group and session, and nobody else's.
type exit struct{}

func (exit) await(p *os.Process) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return // also if it is lost: reap says so
		}
	}
}

func (exit) reap(p *os.Process) (*os.ProcessState, error) { return p.Wait() }

// signalSession signals the command's group, and then all others in its
// session: programs such as timeout(1) make groups of their own. It looks
// until it finds nobody new, because what it finds may fork meanwhile.
func signalSession(sid int, signal syscall.Signal) {
	_ = unix.Kill(-sid, signal) // an empty group has nobody to miss it
	signalled := map[int]bool{sid: true}
	for {
		before := len(signalled)
		for _, pid := range processes() {
			if !signalled[pid] && signalMember(pid, sid, signal) {
				signalled[pid] = true
			}
		}
		if len(signalled) == before {
			return
		}
	}
}

// signalMember signals a process if it is in the session and says whether it
// is. The descriptor is opened before the look, so that the signal cannot reach
// another process that took over the id.
func signalMember(pid, sid int, signal syscall.Signal) bool {
	if !inSession(pid, sid) {
		return false
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	if !inSession(pid, sid) {
		return false
	}
	_ = unix.PidfdSendSignal(fd, signal, nil, 0) // it may have ended by itself
	return true
}

// processes are the ids under /proc; none where it is not mounted.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1) // a part of the list is better than none
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func inSession(pid, sid int) bool {
	session, err := unix.Getsid(pid)
	return err == nil && session == sid
}

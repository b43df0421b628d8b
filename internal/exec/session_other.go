//go:build unix && !linux

package exec

import (
	"os"
	"syscall"
)

// attributes make the command the leader of a session and a group of its own,
// without our terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// exit reaps at once: there is no reliable way here to wait without it.
type exit struct {
	state *os.ProcessState
	err   error
}

func (e *exit) await(p *os.Process) { e.state, e.err = p.Wait() }

func (e *exit) reap(*os.Process) (*os.ProcessState, error) { return e.state, e.err }

// signalSession signals the command's group; who left it is not found here.
func signalSession(sid int, signal syscall.Signal) {
	_ = syscall.Kill(-sid, signal) // an empty group has nobody to miss it
}

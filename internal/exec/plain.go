package exec

import (
	"os"
	"syscall"
)

// running is a command that was started: by itself, or in a sandbox. All but
// ended are for Run's goroutine alone.
type running interface {
	// ended is closed when the command ended. It is not reaped before reap.
	ended() <-chan struct{}
	// terminate asks all processes of the command to end.
	terminate()
	// kill ends them.
	kill()
	// reap waits until the command is gone.
	reap() (ending, error)
}

// ending is how a command ended.
type ending struct {
	code    int // -1 after a signal
	signal  syscall.Signal
	left    int
	stopped string // a limit of the sandbox
}

// plain is a command without a sandbox: the leader of a session.
type plain struct {
	proc   *os.Process
	exited chan struct{}
	gone   exit
}

func startPlain(c Command, files []*os.File) (running, error) {
	proc, err := os.StartProcess(c.Argv[0], c.Argv, &os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files, Sys: attributes()})
	if err != nil {
		return nil, err
	}
	p := &plain{proc: proc, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		p.gone.await(proc)
	}()
	return p, nil
}

func (p *plain) ended() <-chan struct{} { return p.exited }

func (p *plain) terminate() { signalSession(p.proc.Pid, syscall.SIGTERM) }

func (p *plain) kill() { signalSession(p.proc.Pid, syscall.SIGKILL) }

func (p *plain) reap() (ending, error) {
	state, err := p.gone.reap(p.proc)
	if err != nil {
		return ending{}, err
	}
	e := ending{code: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
	}
	return e, nil
}

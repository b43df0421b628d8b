//go:build amd64 || arm64

package isolate

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stageName is the argv[0] by which this binary knows that it is an init.
const stageName = "agentd: isolate"

// namespaces are those that a command gets, without the network's.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// Child is a started init, and later its command. One goroutine owns it, locked
// to the thread that started it: the kernel kills init when that thread ends.
type Child struct {
	link link
	gone chan struct{} // closed when init, and so every process, is gone

	ended chan struct{} // closed when the command ended; then the rest may be read
	said  report        // all that init reported

	init *os.Process      // of the owner, but for signals
	exit *os.ProcessState // when gone is closed
	lost error            // the same: the kernel lost the process
}

// launch starts an init that waits for its order.
func launch(network Network) (*Child, error) {
	ours, theirs, err := newLink()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	c := &Child{link: ours, gone: make(chan struct{}), ended: make(chan struct{})}
	started := make(chan error)
	go c.own(theirs, network, started)
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNotStarted, err), ours.close())
	}
	return c, nil
}

// own is the life of an init.
func (c *Child) own(theirs *os.File, network Network, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.start(theirs, network)
	started <- errors.Join(err, theirs.Close())
	if err != nil {
		return
	}
	defer close(c.gone)
	c.listen()
	c.exit, c.lost = c.init.Wait()
}

func (c *Child) start(theirs *os.File, network Network) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	c.init, err = os.StartProcess("/proc/self/exe", []string{stageName}, &os.ProcAttr{
		Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{null, null, null, theirs}, Sys: attributes(network),
	})
	return err
}

// attributes put init into its namespaces with what it needs to furnish them.
// It maps its user itself: whoever is not dumpable cannot do it for a child.
func attributes(network Network) *syscall.SysProcAttr {
	flags := uintptr(namespaces)
	if network == NetworkNone {
		flags |= unix.CLONE_NEWNET
	}
	return &syscall.SysProcAttr{
		Setsid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: flags,
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
	}
}

// listen takes what init reports until init is gone.
func (c *Child) listen() {
	ended := false
	for {
		r, err := c.link.receiveReport()
		if err != nil {
			break
		}
		c.said.Begun = c.said.Begun || r.Begun
		if r.Failed != "" {
			c.said.Failed = r.Failed
		}
		if r.End != nil && !ended {
			c.said.End, ended = r.End, true
			close(c.ended)
		}
	}
	if !ended {
		close(c.ended)
	}
}

// Ended is closed when the command ended. What it left may live until Kill.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Stop sends SIGTERM to every process of the command.
func (c *Child) Stop() { _ = c.init.Signal(syscall.SIGTERM) }

// Kill ends every process of the command.
func (c *Child) Kill() {
	_ = c.init.Signal(syscall.SIGINT) // kill, count and report
	timer := time.NewTimer(killTime)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
	}
	_ = c.init.Kill() // and the kernel kills whatever else is in the namespace
}

// Wait waits until every process of the command is gone. ErrNotStarted means
// that nothing was run.
func (c *Child) Wait() (End, error) {
	<-c.ended
	_ = c.init.Kill() // it has no more to say
	<-c.gone
	_ = c.link.close()
	switch {
	case c.said.Failed != "":
		return End{}, fmt.Errorf("%w: %s", ErrNotStarted, c.said.Failed)
	case !c.said.Begun:
		return End{}, fmt.Errorf("%w: it ended before the command was started: %s", ErrNotStarted, c.exit)
	case c.lost != nil:
		return End{ExitCode: -1}, fmt.Errorf("wait for the sandbox: %w", c.lost)
	case c.said.End == nil: // init was killed: so was the command
		return End{ExitCode: -1, Signal: int(syscall.SIGKILL)}, nil
	}
	return *c.said.End, nil
}

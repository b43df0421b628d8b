//go:build amd64 || arm64

package isolate

import (
	"fmt"
	"os"
)

// Start starts a command. Whether it could be started is told by Wait, which
// must be called.
//
// An init that waits for an order is kept ready, since most of the time that a
// start takes is that of loading this binary. It has not looked at anything
// yet: what the command sees is made when the order comes.
func (s *Sandbox) Start(spec Spec) (*Child, error) {
	if len(spec.Files) != 3 {
		return nil, fmt.Errorf("%w: %d files instead of three", ErrNotStarted, len(spec.Files))
	}
	told, err := tell(order{
		Config: s.config, Argv: spec.Argv, Env: spec.Env, Dir: spec.Dir, UID: os.Geteuid(), GID: os.Getegid(),
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = told.Close() }()
	defer s.prepare()
	files := append([]*os.File{told}, spec.Files...)
	if c := s.takeReady(); c != nil {
		if c.link.sendOrder(files) == nil {
			return c, nil
		}
		c.abandon() // it was killed while it waited
	}
	c, err := launch(s.config.Network)
	if err != nil {
		return nil, err
	}
	if err := c.link.sendOrder(files); err != nil {
		c.abandon()
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	return c, nil
}

// coming is an init that is being made ready.
type coming struct {
	done  chan struct{}
	child *Child // when done is closed; nil if it could not be made
}

// prepare makes an init ready for the next command. That it cannot is told
// by the next Start, which tries again.
func (s *Sandbox) prepare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.next != nil {
		return
	}
	next := &coming{done: make(chan struct{})}
	s.next = next
	go func() {
		defer close(next.done)
		next.child, _ = launch(s.config.Network)
	}()
}

// takeReady returns the init that is ready, or soon is; nil if there is none.
func (s *Sandbox) takeReady() *Child {
	s.mu.Lock()
	next := s.next
	s.next = nil
	s.mu.Unlock()
	if next == nil {
		return nil
	}
	<-next.done
	return next.child
}

// Close ends the init that waits. Commands that run are not touched, and a
// later Start works still, only slower.
func (s *Sandbox) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if c := s.takeReady(); c != nil {
		c.abandon()
	}
}

// abandon ends an init that got no order.
func (c *Child) abandon() {
	_ = c.init.Kill()
	<-c.gone
	_ = c.link.close()
}

package gate

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// View calls f with the state of a session, under the gate's lock: f must not
// keep it, nor block. ErrUnknownSession if no record names the session.
func (g *Gate) View(ctx context.Context, id string, f func(*fold.Session)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, id)
	if err != nil {
		return err
	}
	defer g.unload(s)
	if s.Last == (events.Position{}) {
		return fmt.Errorf("%w: %.80q", ErrUnknownSession, id)
	}
	f(s.Session)
	return nil
}

// Watch calls f with the state of a session now and after every change, until
// f returns true or ctx ends. f is called under the gate's lock. ErrStopped
// when nothing will change any more.
func (g *Gate) Watch(ctx context.Context, id string, f func(*fold.Session) (done bool)) error {
	s, unpin, err := g.pin(ctx, id)
	if err != nil {
		return err
	}
	defer unpin()
	for {
		changed, done := g.look(s, f)
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-g.stopped:
			return ErrStopped
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *Gate) look(s *session, f func(*fold.Session) bool) (<-chan struct{}, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return s.changed, f(s.Session)
}

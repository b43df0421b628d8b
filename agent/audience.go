package agent

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
)

// audience is all listeners of a loop. Without any it is nil.
type audience struct {
	loop  *Loop
	seats []*seat
	lost  atomic.Int64 // what no queue had room for
}

// seat is a listener with what waits for it.
type seat struct {
	Listener

	queue chan note
	lost  atomic.Int64 // since it was last logged
}

// note is one thing to be told. It holds no payload: whoever it is told to
// reads them, in a goroutine of its own.
// A listener that has no ear for it hears nothing.
type note func(ctx context.Context, l *Listener) error

// newAudience seats the listeners; nil where there are none.
func newAudience(l *Loop, listeners []Listener) (*audience, error) {
	if len(listeners) == 0 {
		return nil, nil //nolint:nilnil // nobody listens
	}
	a := &audience{loop: l}
	for i, one := range listeners {
		if one.ToolCalls == nil && one.Executions == nil && one.Rounds == nil {
			return nil, fmt.Errorf("listener %d (%.80q) listens to nothing: set ToolCalls, Executions or Rounds", i, one.Name)
		}
		a.seats = append(a.seats, &seat{Listener: one, queue: make(chan note, cmp.Or(max(0, one.Queue), 1024))})
	}
	return a, nil
}

// listen starts the goroutines of the listeners. They end when the audience is
// closed and they have been told what waited, or what is left of their time is over.
func (a *audience) listen(g *guests) {
	if a == nil {
		return
	}
	for _, s := range a.seats {
		g.admit(func() {
			for n := range s.queue {
				if g.ctx.Err() == nil {
					a.deliver(g.ctx, s, n)
				}
			}
		})
	}
}

// close says that nothing more will be told.
func (a *audience) close() {
	if a == nil {
		return
	}
	for _, s := range a.seats {
		close(s.queue)
	}
}

// tell queues a note for everybody. It never waits.
func (a *audience) tell(ctx context.Context, n note) {
	for _, s := range a.seats {
		select {
		case s.queue <- n:
		default:
			a.lost.Add(1)
			if s.lost.Add(1) == 1 {
				a.loop.logger.WarnContext(ctx, "a listener is too slow and loses what it is told; the log has it", "listener", s.Name)
			}
		}
	}
}

// deliver tells a listener one thing. What goes wrong there stays there.
func (a *audience) deliver(ctx context.Context, s *seat, n note) {
	if lost := s.lost.Swap(0); lost > 0 {
		a.loop.logger.WarnContext(ctx, "a listener goes on after it has lost what its queue had no room for", "listener", s.Name, "lost", lost)
	}
	defer func() {
		if p := recover(); p != nil {
			a.loop.logger.ErrorContext(ctx, "a listener panicked", "listener", s.Name, "panic", fmt.Sprint(p))
		}
	}()
	if err := n(ctx, &s.Listener); err != nil {
		a.loop.logger.WarnContext(ctx, "a listener failed", "listener", s.Name, "error", err)
	}
}

// Unheard returns how much listeners were not told because they were too slow.
func (l *Loop) Unheard() int64 {
	if l.audience == nil {
		return 0
	}
	return l.audience.lost.Load()
}

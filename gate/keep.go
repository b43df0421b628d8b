package gate

import (
	"container/list"
	"context"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Thousands of sessions may wait for people at once. The gate therefore keeps
// folded only those that somebody uses, and the few that were used last; any
// other is folded anew from the log when something happens to it, as after a
// restart. Of an unfinished session stay its name, its run, and its requests in
// the queue of deadlines.

// unfinished is what stays known of a session that has something unfinished.
type unfinished struct {
	run     string          // its unfinished run, or ""
	waits   bool            // that run does nothing but wait for people
	started bool            // a call has started and has no result
	at      events.Position // of its last record
}

// Waits reports whether the unfinished run of a session does nothing but wait
// for people: calls of its last turn are open, and each of those has a request
// that is pending, or is held back by one. It may be called under View and Watch.
func (g *Gate) Waits(s *fold.Session) bool {
	run := s.Run()
	if run == nil || run.Cancelled != nil {
		return false
	}
	last := run.Last()
	if last == nil || last.Outcome != events.RoundCalls {
		return false
	}
	waiting := 0
	for _, c := range s.Turn(last) {
		switch {
		case c == nil:
			return false
		case !c.Open(), g.Held(s, c):
		case c.Request == nil || c.Request.State != fold.Pending:
			return false
		default:
			waiting++
		}
	}
	return waiting > 0
}

// noteUnfinished keeps what must be known of a session that moved. mu is held.
func (g *Gate) noteUnfinished(s *session) {
	if !s.Busy() {
		delete(g.unfinished, s.ID)
		return
	}
	u := unfinished{waits: g.Waits(s.Session), at: s.Last}
	if run := s.Run(); run != nil {
		u.run = run.ID
	}
	for _, c := range s.Calls {
		u.started = u.started || c.Start != nil && c.Open()
	}
	g.unfinished[s.ID] = u
}

// Unfinished returns the sessions that had something unfinished when last
// seen: a run, or a call without a result.
func (g *Gate) Unfinished() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	ids := make([]string, 0, len(g.unfinished))
	for id := range g.unfinished {
		ids = append(ids, id)
	}
	return ids
}

// Waiting returns the unfinished run of a session, and its last position, where
// the run does nothing but wait for people; see Waits. It reads nothing.
func (g *Gate) Waiting(id string) (run string, at events.Position, waits bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.unfinished[id]
	return u.run, u.at, u.waits
}

// Once calls f when the state of a session has moved beyond a position, and
// reports whether it will: where it has moved already, f is never called. There
// is one f a session, the last. f is called by the goroutine that follows the
// log: it must not block, and may use the gate.
func (g *Gate) Once(ctx context.Context, id string, at events.Position, f func()) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	last, err := g.lastOf(ctx, id)
	if err != nil || last != at {
		return false, err
	}
	g.once[id] = f
	return true, nil
}

// lastOf is the position of the last record of a session. mu is held.
func (g *Gate) lastOf(ctx context.Context, id string) (events.Position, error) {
	if u, ok := g.unfinished[id]; ok {
		return u.at, nil
	}
	s, err := g.load(ctx, id)
	if err != nil {
		return events.Position{}, err
	}
	defer g.unload(s)
	return s.Last, nil
}

// takeOnce returns what is to be called for a session that moved, or nil. mu is
// held.
func (g *Gate) takeOnce(id string) func() {
	f := g.once[id]
	delete(g.once, id)
	return f
}

// unload gives a session back that was loaded: among those that nobody uses it
// is the last to be forgotten. mu is held.
func (g *Gate) unload(s *session) {
	if s.pins > 0 || g.sessions[s.ID] != s {
		return
	}
	if s.idle != nil {
		g.idle.MoveToBack(s.idle)
		return
	}
	s.idle = g.idle.PushBack(s)
	if g.idle.Len() > g.opt.KeepLoaded {
		g.forgetIdle(g.idle.Front())
	}
}

// forgetIdle takes the fold of a session out of memory. mu is held.
func (g *Gate) forgetIdle(e *list.Element) {
	if s, ok := g.idle.Remove(e).(*session); ok {
		s.idle = nil
		delete(g.sessions, s.ID)
	}
}

// pin keeps a session loaded until the returned function is called.
func (g *Gate) pin(ctx context.Context, id string) (*session, func(), error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	s.pins++
	if s.idle != nil {
		g.idle.Remove(s.idle)
		s.idle = nil
	}
	return s, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		s.pins--
		g.unload(s)
	}, nil
}

package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

const (
	batch      = 512                    // entries of one read
	persistGap = 100 * time.Millisecond // between writes of gate.db
	saveAfter  = 50_000                 // rows of catching up between writes of gate.db
)

// catchUp folds what the log holds now, without waiting for more. On a long way
// it writes gate.db now and then: what was read need not be kept in memory, nor
// read again by the next start if this one is cut off.
func (g *Gate) catchUp(ctx context.Context) error {
	for {
		n, err := g.step(ctx, false)
		if err != nil || n == 0 {
			return err
		}
		if g.row()-g.saved < saveAfter {
			continue
		}
		if err := g.flush(ctx); err != nil {
			g.logger.WarnContext(ctx, "gate.db could not be written; it is tried again", "error", err)
		}
	}
}

// follow folds the log as it grows.
func (g *Gate) follow(ctx context.Context) error {
	for {
		n, err := g.step(ctx, true)
		if err != nil {
			return fmt.Errorf("gate: follow the log: %w", err)
		}
		if n > 0 {
			continue
		}
		if err := g.log.Wait(ctx, g.row()); err != nil {
			return fmt.Errorf("gate: wait for the log: %w", err)
		}
	}
}

func (g *Gate) row() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.applied.row
}

// step folds one batch and returns how many entries it had.
func (g *Gate) step(ctx context.Context, live bool) (int, error) {
	entries, err := g.log.Read(ctx, g.row(), batch)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	decoded := make([]fold.Record, len(entries))
	for i, e := range entries {
		decoded[i] = fold.Decode(e.Record)
	}
	then, err := g.applyAll(ctx, entries, decoded, live)
	if err != nil {
		return 0, err
	}
	for _, f := range then {
		f()
	}
	return len(entries), nil
}

// applyAll folds a batch, and returns what is to be called once mu is free.
func (g *Gate) applyAll(ctx context.Context, entries []events.Entry, decoded []fold.Record, live bool) (then []func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	touched := map[string]*session{}
	for i, r := range decoded {
		s, err := g.apply(ctx, r, live)
		if err != nil {
			return nil, err
		}
		if s != nil {
			touched[s.ID] = s
		}
		g.applied = place{entries[i].Row, r.Digest}
		if g.applied.row == 1 {
			g.learnLog(r.Digest)
		}
		g.logTime = max(g.logTime, r.LogTime)
	}
	for id, s := range touched {
		g.noteUnfinished(s)
		if f := g.takeOnce(id); f != nil {
			then = append(then, f)
		}
		s.wake()
		g.unload(s)
	}
	return then, nil
}

func (s *session) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// apply folds one record. It returns the session that may have moved. mu is
// held.
func (g *Gate) apply(ctx context.Context, r fold.Record, live bool) (*session, error) {
	g.learn(r)
	g.noteBoot(r)
	id := r.Envelope.SessionID
	if id == "" || !r.Envelope.Critical {
		g.accepted.apply(r, nil, fold.Outcome{Reason: fold.ReasonNotFolded})
		g.answer(r, fold.Outcome{Reason: fold.ReasonNotFolded})
		return nil, nil //nolint:nilnil // no session is moved
	}
	s, err := g.load(ctx, id)
	if err != nil {
		return nil, err
	}
	outcome := s.Apply(r)
	g.accepted.apply(r, s.Session, outcome)
	g.answer(r, outcome)
	if outcome.Counts {
		g.react(s, r, live)
	}
	g.dirty[id] = true
	return s, nil
}

// answer tells who waits for an event what became of it.
func (g *Gate) answer(r fold.Record, o fold.Outcome) {
	if w := g.awaited[r.Envelope.ID]; w != nil {
		*w = o
		if !o.Counts && o.Reason == "" {
			w.Reason = fold.ReasonNotFolded
		}
	}
}

// react starts what follows from a record that counts.
func (g *Gate) react(s *session, r fold.Record, live bool) {
	switch e := r.Event.(type) {
	case *events.ApprovalRequest:
		g.newest[e.RequestID] = s.ID
		g.pending[e.Requester]++
		g.schedule(s, s.Requests[e.RequestID], live)
	case *events.Revision:
		q := s.Requests[e.RequestID]
		g.schedule(s, q, live)
		g.settled(q)
		g.scheduleLapse(s, q, live)
	case *events.Decision:
		q := s.Requests[e.RequestID]
		if e.Verdict == events.VerdictModify {
			g.modified(modification{session: s.ID, request: e.RequestID, decision: r.Envelope.ID})
		}
		g.settled(q)
		g.scheduleLapse(s, q, live)
	case *events.Revocation:
		g.lapses.drop(e.RequestID)
	case *events.ToolStarted:
		if q := s.Calls[e.CallKey].Request; q != nil {
			g.lapses.drop(q.RequestID)
		}
	case *events.ToolResult:
		if q := s.Calls[e.CallKey].Request; q != nil {
			g.settled(q)
			g.lapses.drop(q.RequestID)
		}
	case *events.RunCancelled:
		g.stopRun(s.ID, e.RunID)
		g.endRequests(s, e.RunID, live)
	case *events.RunFinished:
		g.endRequests(s, e.RunID, live)
	default: // nothing follows: who watches the session is woken anyway
	}
}

// settled keeps the count of undecided requests, once a request.
func (g *Gate) settled(q *fold.Request) {
	if q.State != fold.Pending && g.due.drop(q.RequestID) {
		if g.pending[q.Requester]--; g.pending[q.Requester] <= 0 {
			delete(g.pending, q.Requester)
		}
	}
}

// stopRun tells the started calls of a run to stop. mu is held.
func (g *Gate) stopRun(session, run string) {
	for id, c := range g.runs {
		if id.session == session && c.run == run {
			c.stop(errCancelled)
		}
	}
}

// endRequests makes the pending requests of a run that is over fall due: who
// cancels declines them in the same commit, but a turn may arrive just after.
// mu is held.
func (g *Gate) endRequests(s *session, run string, live bool) {
	for _, q := range s.Requests {
		if s.Calls[q.CallKey].RunID == run {
			g.schedule(s, q, live)
		}
	}
}

// load returns a session, folded up to g.applied. mu is held, so nothing is
// applied meanwhile.
func (g *Gate) load(ctx context.Context, id string) (*session, error) {
	if s := g.sessions[id]; s != nil {
		return s, nil
	}
	s := &session{Session: fold.NewSession(id), changed: make(chan struct{})}
	for after := int64(0); ; {
		entries, err := g.log.Session(ctx, id, after, batch)
		if err != nil {
			return nil, fmt.Errorf("load session %.80q: %w", id, err)
		}
		for _, e := range entries {
			if e.Row > g.applied.row {
				entries = nil
				break
			}
			if r := fold.Decode(e.Record); r.Envelope.SessionID == id {
				s.Apply(r)
			}
			after = e.Row
		}
		if len(entries) < batch {
			break
		}
	}
	g.sessions[id] = s
	return s, nil
}

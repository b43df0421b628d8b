package gate

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// An approval holds for a time (start-within): what a person let run now must not
// start tomorrow. Mostly a call starts in the moment of its approval. Where
// something holds it back, or nobody carries it, the gate ends it when the time
// is over, as it ends requests that nobody answers: by the log's clock, also
// after a restart.

// scheduleLapse queues the end of an approval that has not led to a start, or
// takes it out of the queue. mu is held.
func (g *Gate) scheduleLapse(s *session, q *fold.Request, live bool) {
	if !lapses(s.Session, q) {
		g.lapses.drop(q.RequestID)
		return
	}
	ends := q.StartBy().UnixMicro()
	left := g.left(ends)
	if live {
		left = q.StartBy().Sub(time.UnixMicro(s.Last.LogTime))
	}
	g.lapses.set(s.ID, q.RequestID, time.Now().Add(max(0, left)+time.Millisecond), ends)
}

// lapses reports whether a request's approval ends by itself if nothing else
// comes.
func lapses(s *fold.Session, q *fold.Request) bool {
	c := s.Calls[q.CallKey]
	return q.State == fold.Approved && !q.Revoked && c.Open() && c.Start == nil && c.Lost == ""
}

// overdue reports whether an approval's time is over by our clock. mu is held.
func (g *Gate) overdue(q *fold.Request) bool {
	return q.State == fold.Approved && !q.Revoked && g.left(q.StartBy().UnixMicro()) < 0
}

// lapse ends approvals whose time is over.
func (g *Gate) lapse(ctx context.Context) error { return g.attend(ctx, g.lapses, g.endLapsed) }

// endLapsed ends one approved call that nobody started. It stays queued until
// the fold has ended it.
func (g *Gate) endLapsed(ctx context.Context, d deadline) error {
	p, over, err := g.lapsed(ctx, d)
	if err != nil || !over {
		return err
	}
	payload, result := g.unstarted(ctx, p)
	outcomes, err := g.append(ctx, d.session, events.Draft{
		Session: d.session, Causation: p.call.EventID, Payloads: []events.Payload{payload}, Data: result,
	})
	if err != nil {
		g.lapses.later(d.request, time.Now().Add(afterFailure))
		return err
	}
	if outcomes[0].Reason == fold.ReasonTooEarly {
		return g.postpone(ctx, d, g.lapses, (*fold.Request).StartBy)
	}
	return nil
}

// lapsed is what ends an approval that is due; over is false where something else
// has ended it.
func (g *Gate) lapsed(ctx context.Context, d deadline) (p plan, over bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, d.session)
	if err != nil {
		return p, false, err
	}
	defer g.unload(s)
	q := s.Requests[d.request]
	if q == nil || !lapses(s.Session, q) {
		g.lapses.drop(d.request)
		return p, false, nil
	}
	return plan{call: *s.Calls[q.CallKey], over: events.CauseTimeout}, true, nil
}

package gate

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

const (
	// afterFailure is how long to wait before an end is tried again that the
	// log did not take.
	afterFailure = time.Second
	// endedAtOnce is how many requests are ended side by side.
	endedAtOnce = 64
)

// schedule queues the end of a pending request. A live request waits its whole
// time on the monotonic clock from when it came back; one found at a start
// waits what the log's clock leaves of it: that is the wall clock, or the log's
// end where that is ahead. One whose run is over is due now. mu is held.
func (g *Gate) schedule(s *session, q *fold.Request, live bool) {
	if q.State != fold.Pending {
		return
	}
	ends := q.Deadline.UnixMicro()
	left := g.left(ends)
	if live {
		left = q.Deadline.Sub(time.UnixMicro(s.Last.LogTime))
	}
	if cancelledRun(s.Session, s.Calls[q.CallKey]) {
		ends, left = 0, 0
	}
	g.due.set(s.ID, q.RequestID, time.Now().Add(max(0, left)+time.Millisecond), ends)
}

// left is what the log's clock leaves until a log time. mu is held.
func (g *Gate) left(until int64) time.Duration {
	return time.UnixMicro(until).Sub(time.UnixMicro(max(g.now().UnixMicro(), g.logTime)))
}

// scheduleAll queues what is pending anew when the log's end is known: only
// that tells what its clock says now.
func (g *Gate) scheduleAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.due.setAll(g.left)
	g.lapses.setAll(g.left)
}

// expire ends the requests that fall due.
func (g *Gate) expire(ctx context.Context) error {
	return g.attend(ctx, g.due, g.timeOut)
}

// attend ends what falls due in a queue.
func (g *Gate) attend(ctx context.Context, queue *deadlines, end func(context.Context, deadline) error) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, wait := queue.passed(time.Now())
		g.endAll(ctx, due, end)
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-queue.moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// endAll ends what is due side by side, so that the ends share commits.
func (g *Gate) endAll(ctx context.Context, due []deadline, end func(context.Context, deadline) error) {
	var group errgroup.Group
	group.SetLimit(endedAtOnce)
	for _, d := range due {
		group.Go(func() error { return end(ctx, d) })
	}
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		g.logger.WarnContext(ctx, "the end of a request could not be recorded yet; it is tried again", "error", err)
	}
}

// timeOut ends one request. It stays queued until the fold has ended it, so
// what the log could not take, or the fold found too early, is published again.
func (g *Gate) timeOut(ctx context.Context, d deadline) error {
	draft, pending, err := g.ending(ctx, d.session, d.request)
	if err != nil || !pending {
		return err
	}
	outcomes, err := g.append(ctx, d.session, draft)
	if err != nil {
		g.due.later(d.request, time.Now().Add(afterFailure))
		return err
	}
	if outcomes[0].Reason == fold.ReasonTooEarly {
		return g.postpone(ctx, d, g.due, func(q *fold.Request) time.Time { return q.Deadline })
	}
	return nil
}

// postpone waits out what the log's clock, which lags ours, leaves until a time of
// a request, in the queue that it fell due in.
func (g *Gate) postpone(ctx context.Context, d deadline, queue *deadlines, until func(*fold.Request) time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, d.session)
	if err != nil {
		return err
	}
	defer g.unload(s)
	if q := s.Requests[d.request]; q != nil {
		queue.early(d.request, until(q).Sub(time.UnixMicro(s.Last.LogTime)))
	}
	return nil
}

// ending drafts the gate's own decline of a request that is pending: for its
// time-out, or because its run is over.
func (g *Gate) ending(ctx context.Context, id, request string) (draft events.Draft, pending bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, id)
	if err != nil {
		return events.Draft{}, false, err
	}
	defer g.unload(s)
	q := s.Requests[request]
	if q == nil || q.State != fold.Pending {
		g.due.drop(request)
		return events.Draft{}, false, nil
	}
	cause := events.CauseTimeout
	if c := s.Calls[q.CallKey]; cancelledRun(s.Session, c) {
		cause = causeOfCancel(s.Session, c)
	}
	return declineDraft(id, q, cause), true, nil
}

// declineDraft is the gate's own decline: it carries no actor.
func declineDraft(session string, q *fold.Request, cause events.Cause) events.Draft {
	return events.Draft{
		Session: session, Causation: q.EventID,
		Data: &events.Decision{
			RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: events.VerdictDecline, Cause: cause,
			Arguments: carried(q), Via: "gate",
		},
	}
}

// carried is the reference of a request's current arguments, as later events
// copy it.
func carried(q *fold.Request) *events.Ref { return q.Arguments.CarriedBy(q.Carrier) }

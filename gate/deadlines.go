package gate

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

const (
	// tooSoon is how long what is due stays queued while it is being ended.
	tooSoon = 50 * time.Millisecond
	// firstEarly and lastEarly bound the wait, which doubles, after an end that
	// the log found too early: its clock may stand still.
	firstEarly = 20 * time.Millisecond
	lastEarly  = time.Minute
	// afterFailure is how long to wait before an end is tried again that the
	// log did not take.
	afterFailure = time.Second
)

// deadlines is the queue of requests that wait for people, by when their time
// runs out on the monotonic clock.
type deadlines struct {
	mu    sync.Mutex
	queue deadlineHeap         // mu
	byID  map[string]*deadline // mu
	moved chan struct{}        // told when the head may have changed
}

type deadline struct {
	at               time.Time
	ends             int64 // the request's own end in log time, in microseconds; 0 where it is over
	session, request string
	early            int // how often the log found it too early
	index            int
}

func newDeadlines() *deadlines {
	return &deadlines{byID: map[string]*deadline{}, moved: make(chan struct{}, 1)}
}

// set queues a request, or moves it.
func (d *deadlines) set(session, request string, at time.Time, ends int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.byID[request]; old != nil {
		old.at, old.ends = at, ends
		heap.Fix(&d.queue, old.index)
	} else {
		e := &deadline{at: at, ends: ends, session: session, request: request}
		d.byID[request] = e
		heap.Push(&d.queue, e)
	}
	d.tell()
}

// later puts off a request that is queued.
func (d *deadlines) later(request string, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.byID[request]; e != nil {
		e.at = at
		heap.Fix(&d.queue, e.index)
		d.tell()
	}
}

// setAll gives all requests the time that is left of them.
func (d *deadlines) setAll(left func(ends int64) time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for _, e := range d.queue {
		e.at = now.Add(max(0, left(e.ends)) + time.Millisecond)
	}
	heap.Init(&d.queue)
	d.tell()
}

// drop takes a request out and reports whether it was queued.
func (d *deadlines) drop(request string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.byID[request]
	if e == nil {
		return false
	}
	delete(d.byID, request)
	heap.Remove(&d.queue, e.index)
	return true
}

// early puts off what the log found too early: for what its clock leaves, and
// the longer the more often that happened.
func (d *deadlines) early(request string, left time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.byID[request]
	if e == nil {
		return
	}
	left = max(left, min(firstEarly<<min(e.early, 16), lastEarly))
	e.early++
	e.at = time.Now().Add(left + time.Millisecond)
	heap.Fix(&d.queue, e.index)
	d.tell()
}

// tell says that the head may have changed. mu is held.
func (d *deadlines) tell() {
	select {
	case d.moved <- struct{}{}:
	default:
	}
}

// session returns the session of a request that is queued, or "".
func (d *deadlines) session(request string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.byID[request]; e != nil {
		return e.session
	}
	return ""
}

// passed returns what is due now, and how long until the next. What is due
// stays queued for a little later, until somebody drops it.
func (d *deadlines) passed(now time.Time) (due []deadline, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) > 0 {
		head := d.queue[0]
		if left := head.at.Sub(now); left > 0 {
			return due, left
		}
		due = append(due, *head)
		head.at = now.Add(tooSoon)
		heap.Fix(&d.queue, 0)
	}
	return due, time.Hour
}

type deadlineHeap []*deadline

// Len implements heap.Interface.
func (h *deadlineHeap) Len() int { return len(*h) }

// Less implements heap.Interface.
func (h *deadlineHeap) Less(i, j int) bool { return (*h)[i].at.Before((*h)[j].at) }

// Swap implements heap.Interface.
func (h *deadlineHeap) Swap(i, j int) {
	q := *h
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (h *deadlineHeap) Push(x any) {
	e := x.(*deadline) //nolint:errcheck,forcetypeassert // only set pushes
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *deadlineHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

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
}

// expire ends the requests that fall due.
func (g *Gate) expire(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, wait := g.due.passed(time.Now())
		g.timeOutAll(ctx, due)
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-g.due.moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// timeOutAll ends requests side by side, so that they share commits.
func (g *Gate) timeOutAll(ctx context.Context, due []deadline) {
	var group errgroup.Group
	group.SetLimit(64)
	for _, d := range due {
		group.Go(func() error { return g.timeOut(ctx, d) })
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
		return g.postpone(ctx, d)
	}
	return nil
}

// postpone waits out what the log's clock, which lags ours, leaves of a
// request's time.
func (g *Gate) postpone(ctx context.Context, d deadline) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, d.session)
	if err != nil {
		return err
	}
	defer g.unload(s)
	if q := s.Requests[d.request]; q != nil {
		g.due.early(d.request, q.Deadline.Sub(time.UnixMicro(s.Last.LogTime)))
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

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// errNothingWaits ends the context of a handler whose batch was decided.
var errNothingWaits = errors.New("nothing of the batch waits any more")

// consultation is one question to the approval handler. It belongs to one
// goroutine.
type consultation struct {
	loop    *Loop
	session string
	calls   []*fold.Call // copies, each with a pending request
}

// consult asks the handler about the calls that wait and that it was not asked
// about yet, under their current text. Their requests have been told.
func (d *driver) consult(ctx context.Context, st state) {
	h := d.loop.opt.Approvals
	if h == nil || st.cancelled {
		return
	}
	var calls []*fold.Call
	for _, c := range st.open {
		if waitsForHandler(c, h.Name()) && d.asksNow(c.Request, st) {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return
	}
	one := &consultation{loop: d.loop, session: d.session, calls: calls}
	d.carries.Go(func() {
		one.hold(ctx)
		d.asked(calls)
	})
}

// waitsForHandler reports whether a handler's word could count for a call.
func waitsForHandler(c *fold.Call, handler string) bool {
	q := c.Request
	if q == nil || q.State != fold.Pending || !q.Handlers {
		return false
	}
	return !slices.ContainsFunc(q.Votes, func(v fold.Vote) bool { return v.Actor.Person == gate.HandlerActor(handler) })
}

// asksNow marks a request as being asked about; false where it is, or was about
// the same text. While the handler's own change becomes a revision, and that is
// approved, the request is being asked about. What was seen before an answer was
// recorded is not asked by: the driver looks again.
func (d *driver) asksNow(q *fold.Request, seen state) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.putDowns != seen.putDowns || d.asking[q.RequestID] || d.consulted[q.RequestID] == q.Digest {
		return false
	}
	if d.asking == nil {
		d.asking, d.consulted = map[string]bool{}, map[string]events.Digest{}
	}
	d.asking[q.RequestID], d.consulted[q.RequestID] = true, q.Digest
	return true
}

// asked makes the driver look again.
func (d *driver) asked(calls []*fold.Call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range calls {
		delete(d.asking, c.Request.RequestID)
	}
	d.stir()
}

// hold asks, and records what was said. It returns when that is done, or when
// nothing waits any more.
func (c *consultation) hold(ctx context.Context) {
	ctx, stop := c.whileItWaits(ctx)
	defer stop()
	batch, err := c.batch(ctx)
	if err != nil || ctx.Err() != nil {
		return // nothing waits any more
	}
	said, err := c.ask(ctx, batch)
	if ctx.Err() != nil {
		return
	}
	c.warnOfStrangers(ctx, batch, said)
	for _, call := range batch.Calls {
		c.record(ctx, ruling(c.loop.opt.Approvals.Name(), call, said, err))
	}
}

// whileItWaits is a context for as long as anything of the batch waits. The gate
// ends it in the log's time, from which the wall clock may be off.
func (c *consultation) whileItWaits(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	timed, done := context.WithCancel(ctx)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		err := c.loop.gate.Watch(timed, c.session, c.decided)
		stop(cmp.Or(err, errNothingWaits))
	}()
	return timed, func() {
		done()
		<-watching
	}
}

// deadline is when the last call of the batch runs out of time.
func (c *consultation) deadline() time.Time {
	last := slices.MaxFunc(c.calls, func(a, b *fold.Call) int { return a.Request.Deadline.Compare(b.Request.Deadline) })
	return last.Request.Deadline
}

func (c *consultation) decided(s *fold.Session) bool {
	return !slices.ContainsFunc(c.calls, func(call *fold.Call) bool { return s.Requests[call.Request.RequestID].State == fold.Pending })
}

// batch reads what the handler is asked about.
func (c *consultation) batch(ctx context.Context) (ApprovalBatch, error) {
	first := c.calls[0]
	b := ApprovalBatch{
		Session: c.session, Run: first.RunID, Agent: first.Agent.Path, Principal: first.Principal, ID: first.BatchID,
		Deadline: c.deadline(),
	}
	for _, call := range c.calls {
		text, err := c.arguments(ctx, call.Request)
		if err != nil {
			return b, err
		}
		q := call.Request
		b.Calls = append(b.Calls, ApprovalCall{
			ID: call.CallID, RequestID: q.RequestID, Name: call.Tool, Arguments: text, Rule: q.Rule, Why: q.Why, Deadline: q.Deadline, digest: q.Digest,
		})
	}
	return b, nil
}

// arguments reads the text that would run. It is tried again until ctx ends: a
// handler is not asked about what it cannot see.
func (c *consultation) arguments(ctx context.Context, q *fold.Request) (string, error) {
	for {
		b, err := c.loop.opt.Log.Payload(ctx, q.Carrier, q.Arguments)
		if err == nil {
			return shown(b), nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		c.loop.logger.WarnContext(ctx, "arguments could not be read for the approval handler; it is tried again", "request", q.RequestID, "error", err)
		pause(ctx, carryAgain)
	}
}

// answer is what a handler returned.
type answer struct {
	said map[string]Approval
	err  error
}

// ask asks the handler, in a goroutine that may stay behind where the handler
// does not heed its context.
func (c *consultation) ask(ctx context.Context, b ApprovalBatch) (map[string]Approval, error) {
	answered := make(chan answer, 1)
	handed := b
	handed.Calls = slices.Clone(b.Calls) // what is recorded stays ours
	c.loop.guests.admit(func() {
		said, err := guarded(ctx, c.loop.opt.Approvals, handed)
		answered <- answer{said, err}
	})
	select {
	case a := <-answered:
		if a.err != nil && ctx.Err() == nil {
			c.loop.logger.ErrorContext(ctx, "the approval handler failed; its calls are declined", "session", c.session, "error", a.err)
		}
		return a.said, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// guarded makes a panic of the handler its failure.
func guarded(ctx context.Context, h ApprovalHandler, b ApprovalBatch) (said map[string]Approval, err error) {
	defer func() {
		if p := recover(); p != nil {
			said, err = nil, fmt.Errorf("it panicked: %v", p)
		}
	}()
	return h.Approve(ctx, b)
}

// ruling is what a handler's answer says of a call.
func ruling(handler string, call ApprovalCall, said map[string]Approval, err error) gate.HandlerRuling {
	r := gate.HandlerRuling{RequestID: call.RequestID, RequestDigest: call.digest, Handler: handler}
	a, ok := said[call.ID]
	switch {
	case err != nil:
		r.Failed = err.Error()
	case !ok:
		r.Failed = "it decided nothing about this call"
	default:
		r.Verdict, r.Arguments, r.Comment = a.Verdict, a.Arguments, a.Comment
	}
	return r
}

// record records a ruling. It is tried again while the log takes none and the
// request waits.
func (c *consultation) record(ctx context.Context, r gate.HandlerRuling) {
	for ctx.Err() == nil {
		a, err := c.loop.gate.Handle(ctx, r)
		switch {
		case err == nil && !a.Accepted:
			c.loop.logger.InfoContext(ctx, "what the approval handler said has no effect", "request", r.RequestID, "reason", a.Reason)
			return
		case err == nil, errors.Is(err, events.ErrLogStopped):
			return
		case errors.Is(err, events.ErrUnrecordable):
			c.loop.logger.ErrorContext(ctx, "what the approval handler said cannot be recorded; the request goes on waiting", "request", r.RequestID, "error", err)
			return
		}
		c.loop.logger.WarnContext(ctx, "what the approval handler said could not be recorded yet; it is tried again", "request", r.RequestID, "error", err)
		pause(ctx, carryAgain)
	}
}

// warnOfStrangers tells of decisions about calls that are not in the batch.
func (c *consultation) warnOfStrangers(ctx context.Context, b ApprovalBatch, said map[string]Approval) {
	for id := range said {
		if !slices.ContainsFunc(b.Calls, func(call ApprovalCall) bool { return call.ID == id }) {
			c.loop.logger.WarnContext(ctx, "the approval handler decided about a call that it was not asked about; that is ignored", "session", c.session, "call_id", clipped(id))
		}
	}
}

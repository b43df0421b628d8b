package projections

import (
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// delta is what a batch adds to what is counted.
type delta struct {
	book    *book
	tallies map[tallyKey]tally
	names   [][2]string // kind and name of new labels
	tools   map[string]toolMark
	waits   map[string]asking // by request
	shown   []seen
	unshown []string // requests that need not be known as shown any more
	streaks map[string]int64
	watched watched
	// redefined: the fold of definitions moved.
	redefined bool
	gauges    gauges // as they are after the batch: set by store
}

func (b *book) begin() *delta {
	return &delta{
		book: b, tallies: map[tallyKey]tally{}, tools: map[string]toolMark{}, waits: map[string]asking{}, streaks: map[string]int64{},
	}
}

// asking is a request that waits, or has ended in the batch.
type asking struct {
	fresh, ended    bool  // it was asked in the batch; it has ended in it
	asked, deadline int64 // log times
}

// count adds a record.
func (d *delta) count(r folded) {
	d.add(famEvents, labels{d.book.typeLabel(r.Envelope.Type)}, tally{n: 1})
	if r.Event == nil {
		return
	}
	switch e := r.Event.(type) {
	case *events.Definition:
		if e.Kind == events.DefineTool {
			d.define(r.LogTime, e)
		}
		return
	case *events.Access:
		d.access(r, e)
		return
	default: // counted below, if the fold counts it
	}
	if r.outcome.Counts {
		d.counted(r)
	}
}

// counted adds a record that moved the fold.
func (d *delta) counted(r folded) {
	switch e := r.Event.(type) {
	case *events.ToolCall:
		tool := d.tool(e.Tool)
		d.called(r.LogTime, tool)
		d.addAt(r.LogTime, famProposed, labels{tool}, tally{n: 1})
		d.size(famSizes, labels{"arguments"}, e.Arguments)
	case *events.ApprovalRequest:
		d.asked(r, r.session.Requests[e.RequestID])
	case *events.Decision:
		d.decided(r, r.session.Requests[e.RequestID], e)
	case *events.Revision:
		d.revised(r, r.session.Requests[e.RequestID])
	case *events.ToolStarted:
		d.started(e)
	case *events.ToolResult:
		d.ended(r, r.session.Calls[e.CallKey])
	default: // moves nothing that is counted
	}
}

// typeLabel bounds the types of records.
func (b *book) typeLabel(t events.Type) string {
	if b.types[t] {
		return string(t)
	}
	return other
}

// originOf says who called: the agent itself, or one of its own.
func originOf(c *fold.Call) string {
	if c.Agent.Path != "" {
		return "subagent"
	}
	return "main"
}

func (d *delta) asked(r folded, q *fold.Request) {
	c := r.session.Calls[q.CallKey]
	rule := d.rule(c.Rule)
	d.add(famRequests, labels{rule, originOf(c)}, tally{n: 1})
	d.add(famPending, labels{rule}, tally{n: 1})
	d.addAt(r.LogTime, famAsked, labels{d.tool(c.Tool)}, tally{n: 1})
	d.waits[q.RequestID] = asking{fresh: true, asked: q.At.LogTime, deadline: q.Deadline.UnixMicro()}
}

func (d *delta) revised(r folded, q *fold.Request) {
	if q.State != fold.Pending {
		d.over(r, q)
		return
	}
	d.waits[q.RequestID] = asking{fresh: d.waits[q.RequestID].fresh, asked: q.At.LogTime, deadline: q.Deadline.UnixMicro()}
}

func (d *delta) decided(r folded, q *fold.Request, e *events.Decision) {
	if e.Cause == events.CauseHuman && e.Actor != nil {
		d.review(r, q, e)
	}
	if q.State != fold.Pending {
		d.over(r, q)
	}
}

// over adds the end of a request. Its rule is the call's own, under which it was
// counted as asked: a revision may have named another.
func (d *delta) over(r folded, q *fold.Request) {
	c := r.session.Calls[q.CallKey]
	cause, at := causeOfEnd(c, q), r.LogTime
	if q.End != nil {
		at = q.End.At.LogTime // a modification ends it, though it shows by its revision
	}
	end, decider, rule := endOf(q, cause), deciderOf(cause), d.rule(c.Rule)
	took := micros(at - q.At.LogTime)
	d.add(famPending, labels{rule}, tally{n: -1})
	d.add(famDecisions, labels{rule, string(end), string(decider)}, tally{n: 1})
	d.observe(famLatency, labels{rule, string(end)}, waitBounds(), took)
	d.addAt(r.LogTime, famEnds, labels{string(end), string(decider), string(cause)}, tally{n: 1})
	d.addAt(r.LogTime, famToolEnds, labels{d.tool(c.Tool), string(end)}, tally{n: 1})
	if decider == DeciderHuman {
		d.observeAt(r.LogTime, famWaits, labels{}, waitBounds(), took)
		d.dwelt(q, end)
	}
	d.forget(q.RequestID)
}

// forget drops what is kept of a request while it waits.
func (d *delta) forget(request string) {
	if d.waits[request].fresh {
		delete(d.waits, request) // it never was in the file
	} else {
		d.waits[request] = asking{ended: true}
	}
	if d.book.reviews.shown[request] != nil {
		delete(d.book.reviews.shown, request)
		d.unshown = append(d.unshown, request)
	}
}

// causeOfEnd is what ended a request: a decision, or its call's result.
func causeOfEnd(c *fold.Call, q *fold.Request) events.Cause {
	if q.End == nil {
		return c.Result.Cause
	}
	return q.End.Cause
}

func endOf(q *fold.Request, cause events.Cause) RequestEnd {
	if q.State == fold.Approved {
		if q.Revised != "" {
			return EndModified
		}
		return EndApproved
	}
	switch fold.StatusOf(cause) {
	case events.StatusDeclined:
		return EndDeclined
	case events.StatusExpired:
		return EndExpired
	case events.StatusCancelled:
		return EndCancelled
	case events.StatusStale:
		return EndStale
	case events.StatusOK, events.StatusError, events.StatusAmbiguous:
	}
	return EndFailed
}

func deciderOf(cause events.Cause) Decider {
	if cause == events.CauseHuman {
		return DeciderHuman
	}
	if cause == events.CauseHandler {
		return DeciderHandler
	}
	return DeciderSystem
}

// started adds a start under a bypass. A standing rule grants none yet.
func (d *delta) started(e *events.ToolStarted) {
	if e.Warrant.Kind == events.WarrantBypass {
		d.add(famBypasses, labels{bypassOfRequest}, tally{n: 1})
	}
}

// bypassOfRequest: the run was asked for with it.
const bypassOfRequest = "request"

// ended adds the result of a call, and the end of a request that nobody decided.
func (d *delta) ended(r folded, c *fold.Call) {
	tool, outcome := d.tool(c.Tool), outcomeOf(c)
	d.add(famCalls, labels{tool, originOf(c), outcome}, tally{n: 1})
	d.addAt(r.LogTime, famEnded, labels{tool, string(c.Result.Status)}, tally{n: 1})
	d.size(famSizes, labels{"result"}, c.Result.Result)
	if ran(c) {
		took := time.Duration(c.Result.DurationMS) * time.Millisecond
		d.observe(famDurations, labels{tool, outcome}, runBounds(), took)
		d.observeAt(r.LogTime, famRan, labels{tool}, runBounds(), took)
	}
	if c.Request != nil && c.Request.State == fold.Closed {
		d.over(r, c.Request)
	}
}

// ran reports whether it is known how long a call ran.
func ran(c *fold.Call) bool { return c.Start != nil && c.Result.Status != events.StatusAmbiguous }

// outcomeOf is how a call ended, as the label outcome says it.
func outcomeOf(c *fold.Call) string {
	switch {
	case c.Result.Status == events.StatusOK:
		return "executed"
	case c.Result.Status != events.StatusError:
		return string(c.Result.Status)
	case c.Start == nil:
		return "refused" // no such tool, arguments that do not fit, or the gate could not
	case c.Result.StoppedBy == "timeout":
		return "timeout"
	}
	return string(events.StatusError)
}

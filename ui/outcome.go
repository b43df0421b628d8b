package ui

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
)

// outcomeView says how a request ended.
type outcomeView struct {
	Chip    chip
	Words   string
	Comment *textView
	Result  string // what became of the call
	Call    string // the path of its page
	Revoke  *revokeView
	// Open says that more will become of the call, in this session, escaped as in
	// paths.
	Open    bool
	Session string
}

// endWords says how a request ended, by whom and when.
func (c *Console) endWords(ctx context.Context, n *names, q *fold.Request) string {
	if q.End == nil {
		return "It was closed without a decision: its call has ended."
	}
	when := " at " + clock(at(q.End.At)) + " UTC"
	switch {
	case q.State == fold.Approved:
		var by []string
		for _, v := range q.Votes {
			if v.Actor != nil {
				by = append(by, n.of(ctx, v.Actor.Person))
			}
		}
		how := "Approved by "
		if q.Author != "" {
			how = "Approved with changes by "
		}
		if q.Revoked {
			when += ", and taken back before the call started"
		}
		return how + strings.Join(by, ", ") + when + "."
	case q.End.Actor != nil:
		return "Declined by " + n.of(ctx, q.End.Actor.Person) + when + "."
	case q.End.Cause == events.CauseTimeout:
		return "It expired" + when + ": nobody answered in time."
	default:
		return "It ended" + when + ": " + causeWords(q.End.Cause) + "."
	}
}

// outcome says how a request ended, and what became of its call.
func (c *Console) outcome(ctx context.Context, n *names, id auth.Identity, q projections.Request) *outcomeView {
	call, err := c.views.Call(ctx, q.Session, q.CallKey)
	if err != nil {
		call = projections.Call{Call: q.Call, Session: q.Session}
	}
	o := &outcomeView{
		Chip: requestChip(&q.Request, c.now()), Words: c.endWords(ctx, n, &q.Request), Call: callPath(q.Session, q.CallKey), Result: resultWords(call),
		Open: call.Result == nil && q.State == fold.Approved, Session: url.PathEscape(q.Session),
	}
	if call.Result == nil && call.Start == nil && q.State != fold.Approved {
		o.Result = "It does not run."
	}
	if o.Revoke = c.revokeFor(id, &q.Request, &call.Call); unstarted(&q.Request, &call.Call) {
		o.Result = "It has not started. It starts by " + clock(q.StartBy()) + " UTC, or the approval lapses."
	}
	if q.End != nil && q.End.Comment != nil {
		comment := c.text(ctx, q.End.EventID, q.End.Comment, theirsBudget)
		o.Comment = &comment
	}
	return o
}

// resultWords says what became of a call.
func resultWords(c projections.Call) string {
	switch {
	case c.Result == nil && c.Start != nil:
		return "It has started, and runs."
	case c.Result == nil:
		return "It has not started."
	case c.Start == nil && c.Result.Status == events.StatusAmbiguous:
		return "Nobody knows whether it ran: the part of the log that would tell was lost. It is not run again."
	case c.Start == nil && c.Result.Status == events.StatusExpired && c.Request != nil && c.Request.State == fold.Approved:
		return "It did not run: the approval lapsed before the call started."
	case c.Start == nil:
		return "It did not run."
	}
	if c.Result.Status == events.StatusError && c.Result.Cause == events.CauseStale {
		return "It started, and changed nothing: the file was another by then than the one that was approved."
	}
	ran := " It ran for " + span(time.Duration(c.Result.DurationMS)*time.Millisecond) + "."
	switch c.Result.Status {
	case events.StatusOK:
		return "It ran, with exactly these arguments." + ran
	case events.StatusAmbiguous:
		return "It started, and nobody knows whether it ended: the process that ran it was lost. It is not run again."
	case events.StatusError:
		return "It ran and failed." + ran
	case events.StatusDeclined, events.StatusExpired, events.StatusCancelled, events.StatusStale:
	}
	return "It ended as " + string(c.Result.Status) + "."
}

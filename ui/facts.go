package ui

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// facts are what we know of a request ourselves.
func (c *Console) facts(ctx context.Context, n *names, q projections.Request) []factView {
	rest := q.Deadline.Sub(c.now())
	deadline := factView{Name: "Answer by", Value: clock(q.Deadline) + " UTC", Time: q.Deadline.UTC()}
	if q.State == fold.Pending && rest > 0 {
		deadline.Deadline, deadline.Value = true, deadline.Value+", in "+left(rest)
	}
	f := []factView{
		{Name: "Agent", Value: agentName(q.Call.Agent)},
		{Name: "Asked by", Value: n.of(ctx, q.Requester)},
		{Name: "Session", Spans: visible.Line(q.Session, 60), Href: sessionPath(q.Session)},
		{Name: "Asked at", Value: clockDate(at(q.At)) + " UTC", Time: at(q.At)},
		deadline,
		{Name: "If nobody answers", Value: "It does not run."},
		{Name: "Rule", Value: visible.String(q.Rule) + ", policy " + short(q.PolicyDigest)},
		{Name: "Runs", Value: runsHow(q.Call, c.opt.Isolation)},
		{Name: "Model", Spans: visible.Line(cmp.Or(q.Call.Model, "not said"), 60)},
	}
	if q.Quorum > 1 || len(q.Approvers) > 0 || q.FourEyes {
		f = append(f, factView{Name: "Who decides", Value: approversWords(q.Request)})
	}
	if q.Target != nil {
		f = append(f, factView{Name: "Would change", Spans: visible.Line(q.Target.Path, 200)})
	}
	return f
}

// runsHow says whose word it is that the call runs as decided.
func runsHow(call fold.Call, isolation string) string {
	switch call.Enforcement {
	case events.Enforced:
		if isolation == "none" {
			return "by this gate, not shut off from it (isolation: none)"
		}
		return "by this gate, isolation: " + isolation
	case events.Cooperative:
		return "by the caller, who says that it waits for the decision"
	case events.Observed:
		return "elsewhere; seen from outside"
	}
	return string(call.Enforcement)
}

// approversWords says who decides a request.
func approversWords(q fold.Request) string {
	words := count(q.Quorum, "person", "people") + " with the role reviewer"
	if len(q.Approvers) > 0 {
		words = count(q.Quorum, "person", "people") + " of " + visible.String(strings.Join(q.Approvers, ", "))
	}
	if q.FourEyes {
		words += ", not who asked"
	}
	return words
}

func short(d events.Digest) string { return string(d[:min(12, len(d))]) }

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
func (c *Console) outcome(ctx context.Context, n *names, q projections.Request) *outcomeView {
	call, err := c.views.Call(ctx, q.Session, q.CallKey)
	if err != nil {
		call = projections.Call{Call: q.Call, Session: q.Session}
	}
	o := &outcomeView{
		Chip: requestChip(&q.Request, c.now()), Words: c.endWords(ctx, n, &q.Request), Call: callPath(q.Session, q.CallKey), Result: resultWords(call),
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
	case c.Start == nil:
		return "It did not run."
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

// around adds what stands below the decision: what others wrote, and the rest
// of the turn.
func (c *Console) around(ctx context.Context, n *names, id auth.Identity, v *requestView, q projections.Request) {
	if v.Form != nil {
		v.Told = c.opt.Declined(visible.String(id.Name), "")
	}
	v.Turn = c.turn(ctx, n, q.Session, q.CallKey)
	if round, err := c.views.Round(ctx, q.Session, q.BatchID); err == nil && round.Message != nil {
		if b, err := c.views.Text(ctx, round.EventID, round.Message); err == nil {
			if said := spoken(b); len(said) > 0 {
				t := shownText(said, theirsBudget)
				v.ModelText = &t
			}
		}
	}
	if q.Call.RunID != "" {
		if run, err := c.views.RunOf(ctx, q.Session, q.Call.RunID); err == nil {
			t := c.text(ctx, run.EventID, run.Query, theirsBudget)
			v.Query = &t
		}
	}
	v.Decisions = c.decisions(ctx, n, q.RequestID)
}

// turnView is a call of the same model turn.
type turnView struct {
	Chip    chip
	Tool    []visible.Span
	Summary []visible.Span
	Meta    string
	Href    string
	This    bool
	Number  string
}

// maxTurn is how many calls of a turn a page lists.
const maxTurn = 40

func (c *Console) turn(ctx context.Context, n *names, session string, this events.CallKey) []turnView {
	calls, err := c.views.Turn(ctx, session, this.BatchID, maxTurn)
	if err != nil {
		c.logger.ErrorContext(ctx, "a turn could not be read", "error", err.Error())
	}
	out := make([]turnView, 0, len(calls))
	for _, call := range calls {
		ref, carrier := call.Current()
		t := turnView{
			Chip: callChip(call), Tool: visible.Line(call.Tool, 60), Summary: c.summaryOf(ctx, carrier, ref), This: call.Index == this.Index,
			Number: strconv.Itoa(call.Index + 1), Href: callPath(session, call.CallKey),
		}
		if by := decidedBy(ctx, n, call); by != "" {
			t.Meta = "by " + by
		}
		if call.Request != nil {
			t.Href = requestPath(call.Request.RequestID)
		}
		out = append(out, t)
	}
	return out
}

// decisionView is what was said about a request, and whether it counted.
type decisionView struct {
	Words, Who, When, Place string
	NotCounted              string
}

func (c *Console) decisions(ctx context.Context, n *names, request string) []decisionView {
	const most = 100
	list, err := c.views.Decisions(ctx, request, most)
	if err != nil {
		c.logger.ErrorContext(ctx, "decisions could not be read", "error", err.Error())
	}
	out := make([]decisionView, 0, len(list))
	for _, d := range list {
		v := decisionView{When: clock(at(d.At)), Place: place(d.At), Words: decisionWords(d.Event)}
		if !d.Counted() {
			v.NotCounted = reasonWords(d.Reason)
		}
		switch e := d.Event.(type) {
		case *events.Decision:
			v.Who = causeWords(e.Cause)
			if e.Actor != nil {
				v.Who = n.of(ctx, e.Actor.Person)
			}
		case *events.Revocation:
			v.Who = n.of(ctx, e.Actor.Person)
		default:
			v.Who = "the gate"
		}
		out = append(out, v)
	}
	return out
}

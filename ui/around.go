package ui

import (
	"context"
	"strconv"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// around adds what stands below the decision: what others wrote, and the rest
// of the turn.
func (c *Console) around(ctx context.Context, n *names, id auth.Identity, v *requestView, q projections.Request) {
	if v.Form != nil {
		v.Told = c.told(id)
	}
	v.Similar = c.similar(ctx, id, n, q)
	v.Declined = c.declinedBefore(ctx, reader(id), n, q, func(call projections.Call) { c.note(ctx, id, clip("call "+call.Key().String()), call.Session) })
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

package ui

import (
	"cmp"
	"context"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// facts are what we know of a request ourselves.
func (c *Console) facts(ctx context.Context, n *names, q projections.Request) []factView {
	rest := q.Deadline.Sub(c.now())
	deadline := factView{Name: "Answer by", Value: clock(q.Deadline) + " UTC", Time: q.Deadline.UTC()}
	if q.State == fold.Pending && rest > 0 {
		deadline.Left = left(rest)
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

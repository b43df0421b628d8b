package ui

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// facts are what we know of a request ourselves: the four that one looks at
// first, and the others.
func (c *Console) facts(ctx context.Context, n *names, q projections.Request) (first, more []factView) {
	first = []factView{
		{Name: "Agent", Value: agentName(q.Call.Agent)},
		{Name: "Asked by", Value: n.of(ctx, q.Requester)},
		// By its id: what the run was asked is another's text, and stands below.
		{Name: "Session", Spans: visible.Line(shortID(q.Session), 40), Href: sessionPath(q.Session)},
		c.deadlineFact(q),
	}
	if q.Quorum > 1 || len(q.Approvers) > 0 || q.FourEyes {
		first = append(first, factView{Name: "Who decides", Value: approversWords(q.Request)})
	}
	if by := c.approvedBy(ctx, n, q); by != "" {
		first = append(first, factView{Name: "Approved so far", Value: by})
	}
	more = []factView{
		{Name: "If nobody answers", Value: "It does not run."},
		{Name: "Asked at", Value: clockDate(at(q.At)) + " UTC", Time: at(q.At)},
		{Name: "Runs", Value: runsHow(q.Call, c.opt.Isolation)},
		{Name: "Rule", Value: visible.String(q.Rule) + ", policy " + short(q.PolicyDigest)},
		{Name: "Model", Spans: visible.Line(cmp.Or(q.Call.Model, "not said"), 60)},
		{Name: "Session id", Spans: visible.Line(q.Session, 60), Href: sessionPath(q.Session)},
		{Name: "Request id", Value: visible.String(q.RequestID)},
		{Name: "Version", Value: versionWords(q)},
		{Name: "Digest", Value: string(q.Digest)},
	}
	return first, more
}

// approvedBy names who has approved a request that waits for more.
func (c *Console) approvedBy(ctx context.Context, n *names, q projections.Request) string {
	var by []string
	for _, v := range q.Votes {
		if q.State == fold.Pending && v.Actor != nil {
			by = append(by, n.of(ctx, v.Actor.Person)+" at "+clock(at(v.At)))
		}
	}
	return strings.Join(by, ", ")
}

// deadlineFact is until when a request can be decided, by the log's clock.
func (c *Console) deadlineFact(q projections.Request) factView {
	f := factView{Name: "Answer by", Value: clock(q.Deadline) + " UTC", Time: q.Deadline.UTC()}
	if rest := q.Deadline.Sub(c.now()); q.State == fold.Pending && rest > 0 {
		f.Left = left(rest)
	}
	return f
}

// versionWords says which text of a request is the current one.
func versionWords(q projections.Request) string {
	if q.Revision == 0 {
		return "0, the model's own arguments"
	}
	return strconv.Itoa(q.Revision) + ", changed by a reviewer"
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

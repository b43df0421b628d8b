package ui

import (
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui/visible"
)

func (t teller) decision(e events.Event) {
	v := t.v
	switch e := e.(type) {
	case *events.ApprovalRequest:
		v.Icon, v.Class, v.Href = "clock", "wait", requestPath(e.RequestID)
		v.Thing, v.After = visible.Line(e.Tool, 60), "waits for "+count(e.Quorum, "approval", "approvals")+", "+span(time.Duration(e.Timeout))+" at most"
	case *events.Decision:
		t.decided(e)
	case *events.Revision:
		v.Icon, v.Words = "check", "The changed arguments replace the model's:"
		if e.Outcome == events.RevisionRefused {
			v.Icon, v.Class, v.Words = "cross", "gone", "The changed arguments cannot run:"
		}
		t.about(e.RequestID)
	case *events.Revocation:
		v.Icon, v.Class, v.Words = "cross", "gone", t.n.of(t.ctx, e.Actor.Person)+" took the approval back of"
		if t.void {
			v.Words = t.n.of(t.ctx, e.Actor.Person) + " tried to take the approval back of"
		}
		t.about(e.RequestID)
		t.say(e.Comment)
	default: // step hands over no others
	}
}

// about names the request that a record is about, and leads to it where the
// session has it.
func (t teller) about(request string) {
	if q := t.known.request(t.ctx, request); q != nil {
		t.v.Href, t.v.Thing = requestPath(request), visible.Line(q.Tool, 60)
		return
	}
	t.v.Thing = visible.Line("a request", 60)
}

// decided tells who decided what: a decision that did not count was an attempt.
func (t teller) decided(e *events.Decision) {
	v := t.v
	v.Icon, v.Class = "cross", "gone"
	if e.Verdict != events.VerdictDecline && !t.void {
		v.Icon, v.Class = "check", "ok"
	}
	t.about(e.RequestID)
	t.say(e.Comment)
	if e.Actor == nil {
		v.Words, v.After = endedWords(e.Cause)
		return
	}
	v.Words = t.n.of(t.ctx, e.Actor.Person) + " " + verdictWords(e.Verdict, t.void)
	if e.Verdict == events.VerdictModify {
		v.After = "with changes"
	}
	if q := t.known.request(t.ctx, e.RequestID); q != nil && q.Quorum > 1 && e.Verdict != events.VerdictDecline {
		v.After += " (" + count(q.Quorum, "approval is", "approvals are") + " needed)"
	}
}

func verdictWords(v events.Verdict, void bool) string {
	declines := v == events.VerdictDecline
	switch {
	case declines && void:
		return "tried to decline"
	case void:
		return "tried to approve"
	case declines:
		return "declined"
	}
	return "approved"
}

// endedWords says how the gate ended a request, around the tool's name.
func endedWords(cause events.Cause) (before, after string) {
	switch cause {
	case events.CauseTimeout:
		return "Nobody decided", "in time"
	case events.CauseCancelled:
		return "The request for", "was cancelled"
	case events.CauseSuperseded:
		return "The request for", "was replaced by a new one"
	case events.CauseHuman, events.CausePolicy, events.CauseStandingRule, events.CauseBypass, events.CauseHandler, events.CauseStale,
		events.CauseGateError, events.CauseExecutorLost, events.CauseDeliveryFailed:
	}
	return "The gate ended the request for", "– " + causeWords(cause)
}

package ui

import (
	"cmp"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

func (t teller) call(e events.Event) {
	v := t.v
	switch e := e.(type) {
	case *events.ToolCall:
		v.Icon, v.Href = "tool", callPath(t.session, e.CallKey)
		v.Words, v.Thing = effectWords(e.Effect)+" (rule "+visible.String(e.Rule)+"):", visible.Line(e.Tool, 60)
		if b, err := t.c.views.Text(t.ctx, t.event, e.Arguments); err == nil {
			v.Theirs = visible.Line(summary(b), saidLine)
		}
	case *events.ToolStarted:
		v.Icon, v.Class, v.Href = "run", "ok", callPath(t.session, e.CallKey)
		v.Words, v.Thing = "Starts, warranted by "+warrantWords(e.Warrant)+":", visible.Line(e.Tool, 60)
	case *events.ToolResult:
		t.result(e)
	case *events.SubagentStarted:
		v.Icon, v.Class = "run", "ok"
		v.Words, v.Thing = "A subagent starts:", visible.Line(e.Name, 60)
	case *events.SubagentFinished:
		v.Icon = "check"
		v.Words, v.Thing = "A subagent ends ("+strings.ToLower(string(e.Reason))+"):", visible.Line(e.Name, 60)
	default: // step hands over no others
	}
}

func (t teller) result(e *events.ToolResult) {
	v := t.v
	ran := e.Executor != ""
	chip := resultChip(projections.Call{Call: fold.Call{Result: &fold.Result{ToolResult: *e}, Start: started(ran)}})
	v.Icon, v.Class, v.Href = cmp.Or(chip.Icon, "dot"), chip.Class, callPath(t.session, e.CallKey)
	v.Thing = visible.Line(e.Tool, 60)
	switch e.Status {
	case events.StatusOK:
		v.Words = "Ran in " + span(time.Duration(e.DurationMS)*time.Millisecond) + ":"
	case events.StatusError:
		v.Words = "Not run: " + causeWords(e.Cause) + ":"
		if ran {
			v.Words = "Failed after " + span(time.Duration(e.DurationMS)*time.Millisecond) + ":"
		}
	case events.StatusAmbiguous:
		v.Words = "Nobody knows whether it ended; it is not run again:"
	case events.StatusDeclined, events.StatusExpired, events.StatusCancelled, events.StatusStale:
		v.Words = chip.Word + " (" + causeWords(e.Cause) + "), does not run:"
	}
	t.say(e.Result)
}

func started(yes bool) *fold.Start {
	if !yes {
		return nil
	}
	return &fold.Start{}
}

func effectWords(e events.Effect) string {
	switch e {
	case events.EffectAllow:
		return "The model asks for a tool that is free"
	case events.EffectDeny:
		return "The model asks for a tool that policy denies"
	case events.EffectAsk:
	}
	return "The model asks for a tool that people decide on"
}

func warrantWords(w events.Warrant) string {
	switch w.Kind {
	case events.WarrantDecision:
		return "a decision"
	case events.WarrantRule:
		return "rule " + visible.String(w.Rule)
	case events.WarrantBypass:
		return "a bypass"
	case events.WarrantStandingRule:
		return "a standing rule"
	}
	return string(w.Kind)
}

func (t teller) decision(e events.Event) {
	v := t.v
	switch e := e.(type) {
	case *events.ApprovalRequest:
		v.Icon, v.Class, v.Href = "clock", "wait", requestPath(e.RequestID)
		v.Words, v.Thing = count(e.Quorum, "person is", "people are")+" asked, for "+span(time.Duration(e.Timeout))+":", visible.Line(e.Tool, 60)
	case *events.Decision:
		v.Href = requestPath(e.RequestID)
		v.Icon, v.Class = "cross", "gone"
		if e.Verdict != events.VerdictDecline {
			v.Icon, v.Class = "check", "ok"
		}
		v.Words = "The gate ends the request: " + causeWords(e.Cause)
		if e.Actor != nil {
			v.Words = t.n.of(t.ctx, e.Actor.Person) + ": " + strings.ToLower(decisionWords(e)) + ", by " + visible.String(e.Via)
		}
		t.say(e.Comment)
	case *events.Revision:
		v.Icon, v.Href, v.Words = "check", requestPath(e.RequestID), decisionWords(e)
	case *events.Revocation:
		v.Icon, v.Class, v.Href = "cross", "gone", requestPath(e.RequestID)
		v.Words = t.n.of(t.ctx, e.Actor.Person) + " takes the approval back"
		t.say(e.Comment)
	default: // step hands over no others
	}
}

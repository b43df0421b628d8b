package ui

import (
	"cmp"
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
		v.Words, v.Thing, v.After = agentName(e.Agent)+" asked for", visible.Line(e.Tool, 60), effectWords(e.Effect, visible.String(e.Rule))
		if b, err := t.c.views.Text(t.ctx, t.event, e.Arguments); err == nil {
			v.Theirs = summaryLine(b, saidLine)
		}
	case *events.ToolStarted:
		v.Icon, v.Class, v.Href = "run", "ok", callPath(t.session, e.CallKey)
		v.Words, v.Thing, v.After = "Started", visible.Line(e.Tool, 60), t.warrant(e.CallKey, e.Warrant)
	case *events.ToolResult:
		t.result(e)
	case *events.SubagentStarted:
		v.Icon, v.Class = "run", "ok"
		v.Words, v.Thing, v.After = "Started the subagent", visible.Line(e.Name, 60), t.warrant(e.CallKey, e.Warrant)
	case *events.SubagentFinished:
		v.Icon = "check"
		v.Words, v.Thing, v.After = "The subagent", visible.Line(e.Name, 60), "ended: "+visible.String(string(e.Reason))
	default: // step hands over no others
	}
}

func (t teller) result(e *events.ToolResult) {
	v := t.v
	ran := e.Executor != ""
	chip := resultChip(projections.Call{Call: fold.Call{Result: &fold.Result{ToolResult: *e}, Start: started(ran)}})
	v.Icon, v.Class, v.Href = cmp.Or(chip.Icon, "dot"), chip.Class, callPath(t.session, e.CallKey)
	v.Thing = visible.Line(e.Tool, 60)
	took := span(time.Duration(e.DurationMS) * time.Millisecond)
	switch e.Status {
	case events.StatusOK:
		v.Words, v.After = "Finished", "in "+took
	case events.StatusError:
		v.After = "did not run – " + causeWords(e.Cause)
		if ran {
			v.After = "failed after " + took
		}
	case events.StatusAmbiguous:
		v.After = "was lost: nobody knows whether it ended, and it is not run again"
	case events.StatusDeclined, events.StatusExpired, events.StatusCancelled, events.StatusStale:
		v.After = "does not run: " + endWords(e)
	}
	t.say(e.Result)
}

// endWords says how a call ended that never ran.
func endWords(e *events.ToolResult) string {
	switch {
	case e.Status == events.StatusExpired:
		return "nobody decided in time"
	case e.Cause == events.CauseHuman:
		return string(e.Status)
	case e.Cause == events.CausePolicy:
		return "policy denies it"
	}
	return string(e.Status) + ", " + causeWords(e.Cause)
}

func started(yes bool) *fold.Start {
	if !yes {
		return nil
	}
	return &fold.Start{}
}

// effectWords ends a sentence about a call with what the policy said of it.
func effectWords(e events.Effect, rule string) string {
	switch e {
	case events.EffectAllow:
		return "– free to run (" + rule + ")"
	case events.EffectDeny:
		return "– denied by policy (" + rule + ")"
	case events.EffectAsk:
	}
	return "– people decide (" + rule + ")"
}

// warrant says what a start stands on.
func (t teller) warrant(key events.CallKey, w events.Warrant) string {
	switch w.Kind {
	case events.WarrantDecision:
		c := t.known.call(t.ctx, key)
		if t.void || c == nil || c.Request == nil || c.Request.State != fold.Approved {
			return "on a decision"
		}
		return "as " + decidedBy(t.ctx, t.n, *c) + " approved"
	case events.WarrantRule:
		return "– free to run (" + visible.String(w.Rule) + ")"
	case events.WarrantBypass:
		return "under a bypass"
	case events.WarrantStandingRule:
		return "under a standing rule"
	}
	return visible.String(string(w.Kind))
}

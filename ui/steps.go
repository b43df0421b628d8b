package ui

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// saidLine is how much of what others said a timeline shows.
const saidLine = 240

// step puts a record of a session into plain words.
func (c *Console) step(ctx context.Context, n *names, s projections.Step) stepView {
	v := stepView{Time: clock(at(s.Position)), Stamp: stamp(at(s.Position)), Place: place(s.Position), Icon: "dot"}
	if s.Reason != "" && s.Reason != fold.ReasonNotFolded {
		v.NotCounted = reasonWords(s.Reason)
	}
	if s.Event == nil {
		v.Icon, v.Words = "warn", "A record of type "+visible.String(string(s.Envelope.Type))+" that this build cannot read"
		return v
	}
	t := teller{c: c, ctx: ctx, n: n, event: s.Envelope.ID, session: s.Envelope.SessionID, v: &v}
	switch e := s.Event.(type) {
	case *events.RunStarted, *events.RoundFinished, *events.RunCancelled, *events.RunFinished:
		t.run(e)
	case *events.ToolCall, *events.ToolStarted, *events.ToolResult, *events.SubagentStarted, *events.SubagentFinished:
		t.call(e)
	case *events.ApprovalRequest, *events.Decision, *events.Revision, *events.Revocation:
		t.decision(e)
	case *events.Definition, *events.Person, *events.Boot, *events.Alive, *events.Shutdown, *events.ClockStep, *events.Recovered,
		*events.Access, *events.Checkpoint:
		t.process(e)
	}
	return v
}

// teller puts one event into words.
type teller struct {
	c              *Console
	ctx            context.Context
	n              *names
	event, session string
	v              *stepView
}

// say fetches what others said, in one line.
func (t teller) say(ref *events.Ref) {
	if ref == nil {
		return
	}
	b, err := t.c.views.Text(t.ctx, t.event, ref)
	if err != nil {
		b = []byte(missing(err))
	}
	t.v.Theirs = visible.Line(clean(b, 4*saidLine), saidLine)
}

func (t teller) run(e events.Event) {
	v := t.v
	switch e := e.(type) {
	case *events.RunStarted:
		v.Icon, v.Words = "sess", t.n.of(t.ctx, e.Principal)+" asks "+agentName(e.Agent)
		t.say(e.Query)
	case *events.RoundFinished:
		v.Words = "The model asks for " + count(e.Calls, "tool", "tools")
		switch e.Outcome {
		case events.RoundText:
			v.Words = "The model answers"
		case events.RoundFailed:
			v.Icon, v.Class, v.Words = "warn", "no", "The model's turn failed ("+visible.String(cmp.Or(e.Code, "no reason given"))+"): no tool of it starts"
		case events.RoundCalls:
		}
		t.spoken(e)
	case *events.RunCancelled:
		v.Icon, v.Class, v.Words = "cross", "gone", "The run is cancelled"
		if e.Actor != nil {
			v.Words += " by " + t.n.of(t.ctx, e.Actor.Person)
		}
	case *events.RunFinished:
		v.Icon, v.Words = "check", "The run ends ("+strings.ToLower(string(e.Reason))+"): "+
			count(e.Rounds, "round", "rounds")+", "+count(e.Calls, "call", "calls")+", "+count(int(e.Usage.Total), "token", "tokens")
		t.say(e.Detail)
	}
}

// spoken shows what the model says besides its calls.
func (t teller) spoken(e *events.RoundFinished) {
	if e.Message == nil {
		t.say(e.Detail)
		return
	}
	b, err := t.c.views.Text(t.ctx, t.event, e.Message)
	if err != nil {
		b = []byte(missing(err))
	} else {
		b = spoken(b)
	}
	t.v.Theirs = visible.Line(clean(b, 4*saidLine), saidLine)
}

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
		v.Icon, v.Class, v.Href = "run", "ok", callPath(t.session, e.CallKey)
		v.Words, v.Thing = "A subagent starts:", visible.Line(e.Name, 60)
	case *events.SubagentFinished:
		v.Icon, v.Href = "check", callPath(t.session, e.CallKey)
		v.Words, v.Thing = "A subagent ends ("+strings.ToLower(string(e.Reason))+"):", visible.Line(e.Name, 60)
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
	}
}

func (t teller) process(e events.Event) {
	v := t.v
	switch e := e.(type) {
	case *events.Access:
		who := "Somebody"
		if e.Actor != nil {
			who = t.n.of(t.ctx, e.Actor.Person)
		}
		v.Words, v.Thing = who+": "+visible.String(e.Action)+" ("+e.Outcome+")", visible.Line(e.Resource, 80)
		if e.Reason != "" {
			v.Theirs = visible.Line(e.Reason, saidLine)
		}
	case *events.Recovered:
		v.Icon, v.Class, v.Words = "warn", "odd", "After a restart: "+count(len(e.Calls), "call", "calls")+" had started and never ended"
	case *events.Definition:
		v.Words, v.Thing = "Defines "+string(e.Kind), visible.Line(e.Name, 80)
	case *events.Person:
		v.Words = "Names " + t.n.of(t.ctx, e.Person)
	case *events.Boot:
		v.Words = "A process starts: " + visible.String(e.Node) + ", " + visible.String(e.Version)
	case *events.Shutdown:
		v.Words = "A process stops: " + visible.String(e.Reason)
	case *events.Alive:
		v.Words = "A process is alive"
	case *events.ClockStep:
		v.Words = "The wall clock steps from " + clockDate(e.Before.Time) + " to " + clockDate(e.After.Time)
	case *events.Checkpoint:
		v.Words = "A signed checkpoint"
	}
}

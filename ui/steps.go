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
	if leadsNowhere(s) {
		v.Href = ""
	}
	return v
}

// leadsNowhere reports whether a record is about something that the session
// does not have, so that there is no page to lead to.
func leadsNowhere(s projections.Step) bool {
	switch s.Reason {
	case fold.ReasonUnknownCall, fold.ReasonUnknownRequest, fold.ReasonUnreadable:
		return true
	case "", fold.ReasonNotFolded:
		return false
	default:
		return s.Envelope.Type == events.TypeToolCall || s.Envelope.Type == events.TypeApprovalRequest
	}
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
	default: // step hands over no others
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
	default: // step hands over no others
	}
}

package ui

import (
	"cmp"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui/visible"
)

func (t teller) run(e events.Event) {
	v := t.v
	switch e := e.(type) {
	case *events.RunStarted:
		v.Icon, v.Words = "sess", t.n.of(t.ctx, e.Principal)+" asked "+agentName(e.Agent)
		t.say(e.Query)
	case *events.RoundFinished:
		v.Words = "The model asked for " + count(e.Calls, "tool", "tools")
		switch e.Outcome {
		case events.RoundText:
			v.Words = "The model answered"
		case events.RoundFailed:
			v.Icon, v.Class, v.Words = "warn", "no", "The model's turn failed ("+visible.String(cmp.Or(e.Code, "no reason given"))+"): no tool of it starts"
		case events.RoundCalls:
		}
		t.spoken(e)
	case *events.RunCancelled:
		v.Icon, v.Class, v.Words = "cross", "gone", "The run was cancelled"
		if e.Actor != nil {
			v.Words = t.n.of(t.ctx, e.Actor.Person) + " cancelled the run"
		}
	case *events.RunFinished:
		v.Icon, v.Words = "check", "The run ended ("+strings.ToLower(string(e.Reason))+"): "+
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
	t.v.Theirs = visible.Line(string(b), saidLine)
}

func (t teller) process(e events.Event) {
	v := t.v
	switch e := e.(type) {
	case *events.Recovered:
		v.Icon, v.Class, v.Words = "warn", "odd", recoveredWords(e)
	case *events.Definition:
		v.Words, v.Thing = "Defined the "+string(e.Kind), visible.Line(e.Name, 80)
	case *events.Person:
		v.Words = "Named " + t.n.of(t.ctx, e.Person)
	case *events.Boot:
		v.Words = "A process started: " + visible.String(e.Node) + ", " + visible.String(e.Version)
	case *events.Shutdown:
		v.Words = "A process stopped: " + visible.String(e.Reason)
	case *events.Alive:
		v.Words = "A process was alive"
	case *events.ClockStep:
		v.Words = "The wall clock stepped from " + clockDate(e.Before.Time) + " to " + clockDate(e.After.Time)
	case *events.Checkpoint:
		v.Words = "A signed checkpoint"
	default: // step hands over no others
	}
}

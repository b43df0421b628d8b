package main_test

import "github.com/countersign-dev/countersign/events"

// toldOf is what the log has of what clients can be told.
type toldOf struct {
	begun, ended map[string]int  // runs by conversation
	results      map[string]bool // conversation, call id, status
}

func (c *checker) told() toldOf {
	t := toldOf{map[string]int{}, map[string]int{}, map[string]bool{}}
	ids := map[string]string{} // call ids by name
	for _, e := range c.log.entries {
		switch d := e.event.(type) {
		case *events.RunStarted:
			t.begun[e.SessionID]++
		case *events.RunFinished:
			t.ended[e.SessionID]++
			if d.Reason != events.FinishStop {
				c.complain("the run of %s ended %s: %s", e.SessionID, d.Reason, c.log.text(e, d.Detail))
			}
		case *events.ToolCall:
			ids[name(e, d.CallKey)] = d.CallID
		case *events.ToolResult:
			t.results[e.SessionID+" "+ids[name(e, d.CallKey)]+" "+string(d.Status)] = true
		}
	}
	return t
}

// heard compares with what a client was told.
func (c *checker) heard(t toldOf, w *talker) {
	for _, id := range w.runs {
		if t.begun[id] != 1 || t.ended[id] != 1 {
			c.complain("conversation %s was seen through; the log has %d beginnings and %d ends", id, t.begun[id], t.ended[id])
		}
	}
	for result := range w.shown {
		if !t.results[result] {
			c.complain("the result %s was shown and is not in the log", result)
		}
	}
	for _, a := range w.acked {
		c.acknowledged(a)
	}
}

// acknowledged checks that what somebody was told of a decision is so.
func (c *checker) acknowledged(a acknowledged) {
	call := c.requests[a.request]
	if call == nil {
		c.complain("request %s was shown and is not in the log", a.request)
		return
	}
	effect, took := call.comments[a.comment]
	switch {
	case a.Accepted && (!took || effect != a.verdict):
		c.complain("request %s: %s was accepted, the log has %v", a.request, a.verdict, call.effects)
	case !a.Accepted && took:
		c.complain("request %s: %s was refused (%s), and took effect", a.request, a.verdict, a.Reason)
	case !a.Accepted && a.Reason == "":
		c.complain("request %s: %s was refused without a reason", a.request, a.verdict)
	case len(call.effects) > 1:
		c.complain("request %s: %d decisions took effect", a.request, len(call.effects))
	}
}

package main_test

import (
	"fmt"

	"github.com/countersign-dev/countersign/events"
)

// checker judges a log and what tools noted outside of it, by the rules as the
// design words them and not by the code of package fold. One person approves.
type checker struct {
	log      *log
	calls    map[string]*checkedCall // by session and key
	requests map[string]*checkedCall // by request id
	boot     int                     // how many so far
	survived int                     // decisions that took effect after the boot of their request
	problems []string
}

// checkedCall is what the log says of one call.
type checkedCall struct {
	name     string
	protects bool
	asked    int // the boot that asked
	pending  bool
	digest   events.Digest     // what decisions and starts must name now
	text     string            // the arguments that may run now
	modify   map[string]bool   // modifications that wait to become a revision, by event id
	effects  map[string]string // verdict by the id of the decision that took effect
	comments map[string]string // decision that took effect by its comment
	approved string            // the decision that approved
	starts   int
	ran      string // the arguments of the start
	results  []events.Status
}

func check(l *log) *checker {
	c := &checker{log: l, calls: map[string]*checkedCall{}, requests: map[string]*checkedCall{}}
	for _, e := range l.entries {
		c.read(e)
	}
	return c
}

func (c *checker) complain(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func name(e entry, k events.CallKey) string {
	return fmt.Sprintf("%s %s/%d", e.SessionID, k.BatchID, k.Index)
}

func (c *checker) read(e entry) {
	switch d := e.event.(type) {
	case *events.Boot:
		c.boot++
	case *events.ToolCall:
		n := name(e, d.CallKey)
		if c.calls[n] != nil {
			c.complain("row %d: call %s is there twice", e.row, n)
		}
		c.calls[n] = &checkedCall{
			name: n, protects: d.Effect == events.EffectAsk, digest: e.digest, text: c.log.text(e, d.Arguments),
			modify: map[string]bool{}, effects: map[string]string{}, comments: map[string]string{},
		}
	case *events.ApprovalRequest:
		call := c.of(e, d.CallKey)
		call.asked, call.pending, call.digest = c.boot, true, e.digest
		c.requests[d.RequestID] = call
	case *events.Decision:
		c.decision(e, d)
	case *events.Revision:
		c.revision(e, d)
	case *events.ToolStarted:
		c.started(e, d)
	case *events.ToolResult:
		call := c.of(e, d.CallKey)
		call.pending = false
		call.results = append(call.results, d.Status)
		if ends := d.Status == events.StatusOK || d.Status == events.StatusError || d.Status == events.StatusAmbiguous; ends != (call.starts > 0) && d.Status != events.StatusError {
			c.complain("row %d: call %s has the result %s after %d starts", e.row, call.name, d.Status, call.starts)
		}
	}
}

// of returns a call, which must be in the log.
func (c *checker) of(e entry, k events.CallKey) *checkedCall {
	n := name(e, k)
	if c.calls[n] == nil {
		c.complain("row %d: %s of a call that is not there: %s", e.row, e.Type, n)
		c.calls[n] = &checkedCall{name: n}
	}
	return c.calls[n]
}

func (c *checker) decision(e entry, d *events.Decision) {
	if (d.Actor != nil) != (d.Cause == events.CauseHuman) {
		c.complain("row %d: cause %s with actor %v", e.row, d.Cause, d.Actor)
	}
	call := c.requests[d.RequestID]
	if call == nil || !call.pending || d.RequestDigest != call.digest {
		return
	}
	switch d.Verdict {
	case events.VerdictModify:
		call.modify[e.ID] = true
	case events.VerdictApprove:
		call.pending, call.approved = false, e.ID
		c.took(e, d, call)
	case events.VerdictDecline:
		call.pending = false
		c.took(e, d, call)
	}
}

// took notes that a decision took effect.
func (c *checker) took(e entry, d *events.Decision, call *checkedCall) {
	call.effects[e.ID] = string(d.Verdict)
	if d.Cause == events.CauseHuman && call.asked < c.boot {
		c.survived++
	}
	if said := c.log.text(e, d.Comment); said != "" {
		call.comments[said] = string(d.Verdict)
	}
}

// revision is what a modification became: with one person to ask, its author's
// approval stands.
func (c *checker) revision(e entry, d *events.Revision) {
	call := c.requests[d.RequestID]
	if call == nil || !call.pending || !call.modify[e.CausationID] {
		return
	}
	if d.Outcome != events.RevisionAsks {
		return
	}
	call.pending, call.approved, call.digest, call.text = false, e.CausationID, e.digest, c.log.text(e, d.Arguments)
	for _, earlier := range c.log.entries {
		if m, ok := earlier.event.(*events.Decision); ok && earlier.ID == e.CausationID {
			c.took(earlier, m, call)
		}
	}
}

func (c *checker) started(e entry, d *events.ToolStarted) {
	call := c.of(e, d.CallKey)
	call.starts++
	call.ran = c.log.text(e, d.Arguments)
	switch {
	case call.starts > 1:
		c.complain("row %d: call %s is started again", e.row, call.name)
	case len(call.results) > 0:
		c.complain("row %d: call %s is started after its end", e.row, call.name)
	case call.protects && (call.approved == "" || d.Warrant.Kind != events.WarrantDecision || d.Warrant.Decision != call.approved):
		c.complain("row %d: call %s is started without its approval: warrant %v", e.row, call.name, d.Warrant)
	case !call.protects && d.Warrant.Kind != events.WarrantRule:
		c.complain("row %d: free call %s is started by warrant %v", e.row, call.name, d.Warrant)
	case d.RequestDigest != call.digest || call.ran != call.text:
		c.complain("row %d: call %s is started with %s, approved is %s", e.row, call.name, call.ran, call.text)
	}
}

// ended checks what must hold once every run has ended.
func (c *checker) ended() {
	for _, call := range c.calls {
		if len(call.results) != 1 {
			c.complain("call %s has the results %v", call.name, call.results)
		}
		if call.pending {
			c.complain("call %s still waits", call.name)
		}
	}
}

// executions compares with what the tools noted: each note is that of one
// start, and a call that ended well has one.
func (c *checker) executions(notes []string) {
	noted := map[string]int{}
	for _, n := range notes {
		noted[n]++
	}
	for _, call := range c.calls {
		n := noted[call.ran]
		switch {
		case call.starts == 0:
			continue
		case n > 1:
			c.complain("call %s ran %d times", call.name, n)
		case n == 0 && len(call.results) > 0 && call.results[0] == events.StatusOK:
			c.complain("call %s is said to have ended well, and has not run", call.name)
		}
		delete(noted, call.ran)
	}
	for arguments := range noted {
		c.complain("%s ran without a start", arguments)
	}
}

// statuses counts results.
func (c *checker) statuses() map[events.Status]int {
	n := map[events.Status]int{}
	for _, call := range c.calls {
		for _, s := range call.results {
			n[s]++
		}
	}
	return n
}

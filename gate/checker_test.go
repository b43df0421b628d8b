package gate_test

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// checker judges a log alone, by the rules as the design words them and not by
// the code of package fold: one person approves, nobody needs four eyes.
type checker struct {
	log      *memLog
	calls    map[callName]*checkedCall
	requests map[string]*checkedCall
	running  map[string]string // unfinished run by session
	over     map[string]bool   // runs that are cancelled or finished
	counted  map[string]bool   // decisions that counted, by event id; a modification once it is put to the vote
	problems []string
}

type callName struct {
	session string
	key     events.CallKey
}

type checkedCall struct {
	events.ToolCall
	asked    *events.ApprovalRequest
	pending  bool
	deadline int64         // log time, microseconds
	digest   events.Digest // what decisions and starts must name
	text     *events.Ref
	wants    map[string]*events.Decision // modifications that wait, by event id
	number   int
	approve  string // the decision that approved
	at       int64
	revoked  bool
	refusal  *events.Decision // the decline that counted

	start    *events.ToolStarted
	startRow int64
	waited   bool // a protected call of its turn was undecided at the start
	result   *events.ToolResult
}

func judgeLog(log *memLog) *checker {
	c := &checker{
		log: log, calls: map[callName]*checkedCall{}, requests: map[string]*checkedCall{}, running: map[string]string{},
		over: map[string]bool{}, counted: map[string]bool{},
	}
	for _, e := range log.all() {
		c.read(e)
	}
	return c
}

func (c *checker) complain(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) read(e events.Entry) {
	env, err := events.DecodeEnvelope(e.Record.Envelope)
	if err != nil {
		c.complain("row %d: %v", e.Row, err)
		return
	}
	data, err := env.Event()
	if err != nil {
		c.complain("row %d: %v", e.Row, err)
		return
	}
	digest := events.DigestOf(e.Record.Envelope)
	switch d := data.(type) {
	case *events.ToolCall:
		name := callName{env.SessionID, d.CallKey}
		if c.calls[name] == nil && (d.RunID == "" || c.running[env.SessionID] == d.RunID) {
			c.calls[name] = &checkedCall{ToolCall: *d, digest: digest, text: d.Arguments, wants: map[string]*events.Decision{}}
		}
	case *events.ApprovalRequest:
		if call := c.calls[callName{env.SessionID, d.CallKey}]; call != nil && call.asked == nil && call.result == nil {
			call.asked, call.pending, call.digest = d, true, digest
			call.deadline = e.Record.LogTime + time.Duration(d.Timeout).Microseconds()
			c.requests[d.RequestID] = call
		}
	case *events.Decision:
		c.decision(e, env.ID, d)
	case *events.Revision:
		c.revision(env.CausationID, digest, d)
	case *events.ToolStarted:
		c.started(e, env.SessionID, d)
	case *events.Revocation:
		call := c.requests[d.RequestID]
		if call != nil && call.approve == d.Decision && !call.revoked && call.start == nil && call.result == nil && d.Actor.Roles[0] == "reviewer" {
			call.revoked, c.counted[env.ID] = true, true
		}
	case *events.ToolResult:
		c.ended(e, env.SessionID, d)
	case *events.RunStarted:
		if c.running[env.SessionID] == "" {
			c.running[env.SessionID] = d.RunID
		}
	case *events.RunCancelled:
		c.over[d.RunID] = true
	case *events.RunFinished:
		if c.running[env.SessionID] == d.RunID {
			c.over[d.RunID], c.running[env.SessionID] = true, ""
		}
	}
}

func (c *checker) decision(e events.Entry, id string, d *events.Decision) {
	if (d.Actor != nil) != (d.Cause == events.CauseHuman) {
		c.complain("invariant 6: row %d: cause %s with actor %v", e.Row, d.Cause, d.Actor)
	}
	call := c.requests[d.RequestID]
	if call == nil || !call.pending || d.RequestDigest != call.digest {
		return
	}
	late := e.Record.LogTime > call.deadline
	if d.Cause == events.CauseHuman && (late || len(d.Actor.Roles) == 0 || d.Actor.Roles[0] != "reviewer") || d.Cause == events.CauseTimeout && !late {
		return
	}
	c.counted[id] = d.Verdict != events.VerdictModify
	switch d.Verdict {
	case events.VerdictApprove:
		call.pending, call.approve, call.at = false, id, e.Record.LogTime
	case events.VerdictDecline:
		call.pending, call.refusal = false, d
	case events.VerdictModify:
		call.wants[id] = d
	}
	if d.Cause != events.CauseHuman && d.Verdict != events.VerdictDecline {
		c.complain("invariant 1: row %d: the gate itself said %s", e.Row, d.Verdict)
	}
}

func (c *checker) revision(decision string, digest events.Digest, d *events.Revision) {
	call := c.requests[d.RequestID]
	if call == nil || !call.pending || call.wants[decision] == nil || d.Number != call.number+1 {
		return
	}
	m := call.wants[decision]
	if m.Arguments.Commitment != d.Arguments.Commitment || m.Actor.Person != d.By {
		c.complain("a revision of %s says other than its modification", decision)
		return
	}
	call.number++
	delete(call.wants, decision)
	if d.Outcome == events.RevisionAsks {
		clear(call.wants)
		c.counted[decision] = true
		call.digest, call.text = digest, d.Arguments
		call.pending, call.approve, call.at = false, decision, c.timeOf(decision)
	}
}

func (c *checker) timeOf(id string) int64 {
	for _, e := range c.log.all() {
		if env, err := events.DecodeEnvelope(e.Record.Envelope); err == nil && env.ID == id {
			return e.Record.LogTime
		}
	}
	return 0
}

// started is invariant 1: a start that has no warrant at its place is none.
func (c *checker) started(e events.Entry, session string, d *events.ToolStarted) {
	call := c.calls[callName{session, d.CallKey}]
	if call == nil || call.start != nil || call.result != nil || call.RunID != "" && (c.over[call.RunID] || c.running[session] != call.RunID) {
		return
	}
	named := d.RequestDigest == call.digest && d.Arguments.Commitment == call.text.Commitment && d.Tool == call.Tool
	allowed := call.Effect == events.EffectAllow && d.Warrant.Kind == events.WarrantRule && d.Warrant.Rule == call.Rule && d.Warrant.PolicyDigest == call.PolicyDigest
	approved := call.approve != "" && !call.revoked && d.Warrant.Kind == events.WarrantDecision && d.Warrant.Decision == call.approve &&
		!call.lapsed(e)
	if named && (allowed || approved) {
		call.start, call.startRow, call.waited = d, e.Row, c.undecided(session, d.BatchID)
	}
}

// undecided reports whether a request of a turn is pending.
func (c *checker) undecided(session, batch string) bool {
	for name, call := range c.calls {
		if name.session == session && name.key.BatchID == batch && call.pending {
			return true
		}
	}
	return false
}

// lapsed reports whether the time in which an approval must lead to a start is
// over.
func (call *checkedCall) lapsed(e events.Entry) bool {
	return e.Record.LogTime > call.at+time.Duration(call.asked.StartWithin).Microseconds()
}

func (c *checker) ended(e events.Entry, session string, d *events.ToolResult) {
	call := c.calls[callName{session, d.CallKey}]
	if call == nil || call.result != nil {
		return
	}
	ran := d.Status == events.StatusOK || d.Status == events.StatusError
	if call.start != nil && (d.Status == events.StatusAmbiguous || ran && d.Executor == call.start.Executor) {
		call.result = d
	}
	if call.start == nil && d.Cause == events.CauseTimeout && call.approve != "" && !call.lapsed(e) {
		return
	}
	if call.start == nil && d.Status != events.StatusOK && d.Status != events.StatusAmbiguous && d.Executor == "" {
		call.result, call.pending = d, false
	}
}

// execution is one run of the fake tool, as the tool itself saw it.
type execution struct {
	call      callName
	executor  string
	arguments string
	records   int64 // that the log had then
}

// told is what a poster was answered.
type told struct {
	event    string
	accepted bool
	reason   string
}

// verdict holds a quiescent log against what the tools and the posters saw.
func (c *checker) verdict(ran []execution, answers []told) []string {
	times := map[callName]int{}
	for _, x := range ran {
		times[x.call]++
		c.execution(x)
	}
	for name, call := range c.calls {
		if times[name] > 1 {
			c.complain("invariant 3: %v ran %d times", name, times[name])
		}
		c.outcome(name, call, times[name])
	}
	for _, a := range answers {
		if a.event != "" && a.accepted != c.counted[a.event] {
			c.complain("a poster was told accepted=%t (%s) of %s, the log says %t", a.accepted, a.reason, a.event, c.counted[a.event])
		}
		if !a.accepted && a.reason == "" {
			c.complain("a poster was refused without a reason")
		}
	}
	return c.problems
}

func (c *checker) execution(x execution) {
	call := c.calls[x.call]
	if call == nil || call.start == nil || call.start.Executor != x.executor || call.startRow > x.records {
		c.complain("invariant 1: %v ran on %s without an effective start before it", x.call, x.executor)
		return
	}
	if call.waited && call.Tool != "Read" {
		c.complain("%v ran while a protected call of its turn was undecided", x.call)
	}
	for name, p := range c.log.bytes {
		if p.Opens(*call.text) && string(p.Bytes) != x.arguments {
			c.complain("invariant 5: %v ran with %q, approved was %q (%s)", x.call, x.arguments, p.Bytes, name)
		}
	}
}

// outcome is invariants 2 and 6.
func (c *checker) outcome(name callName, call *checkedCall, ran int) {
	r := call.result
	switch {
	case r == nil:
		c.complain("invariant 2: %v has no result", name)
	case call.start == nil && ran > 0:
		c.complain("invariant 1: %v ran without a start", name)
	case r.Status == events.StatusOK && ran == 0:
		c.complain("invariant 6: %v says ok and did not run", name)
	case call.start != nil:
	case r.Cause == events.CauseHuman && (call.refusal == nil || call.refusal.Cause != events.CauseHuman):
		c.complain("invariant 6: %v says that a person declined", name)
	case call.refusal != nil && call.refusal.Cause == events.CauseTimeout && (r.Status != events.StatusExpired || r.Cause != events.CauseTimeout):
		c.complain("invariant 6: %v timed out, and its result says %s, %s", name, r.Status, r.Cause)
	case call.refusal != nil && call.refusal.Cause == events.CauseHuman && (r.Status != events.StatusDeclined || r.Cause != events.CauseHuman):
		c.complain("invariant 6: a person declined %v, and its result says %s, %s", name, r.Status, r.Cause)
	}
}

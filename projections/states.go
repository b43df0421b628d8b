package projections

import (
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// CallState is where a call stands, in one word: while it has no result one of
// the first four, then the status of its result.
type CallState string

// The states of a call without a result.
const (
	CallProposed CallState = "proposed" // asked for; nobody was asked about it
	CallWaiting  CallState = "waiting"  // for people
	CallDecided  CallState = "decided"  // its request has ended; start or result come next
	CallRunning  CallState = "running"
)

func stateOfCall(c *fold.Call) CallState {
	switch {
	case c.Result != nil:
		return CallState(c.Result.Status)
	case c.Start != nil:
		return CallRunning
	case c.Request == nil:
		return CallProposed
	case c.Request.State == fold.Pending:
		return CallWaiting
	default:
		return CallDecided
	}
}

// CallStates are the states by which a history can be filtered.
func CallStates() []CallState {
	return []CallState{
		CallWaiting, CallProposed, CallDecided, CallRunning, CallState(events.StatusOK), CallState(events.StatusError),
		CallState(events.StatusDeclined), CallState(events.StatusExpired), CallState(events.StatusCancelled),
		CallState(events.StatusStale), CallState(events.StatusAmbiguous),
	}
}

// SessionState is where a session stands, in one word.
type SessionState string

// The states of a session.
const (
	SessionWaiting SessionState = "waiting" // for people
	SessionRunning SessionState = "running"
	SessionIdle    SessionState = "idle" // nothing is unfinished
	SessionBlocked SessionState = "blocked"
)

func stateOf(s *fold.Session) SessionState {
	switch {
	case s.Blocked != "":
		return SessionBlocked
	case waiting(s) > 0:
		return SessionWaiting
	case s.Busy():
		return SessionRunning
	default:
		return SessionIdle
	}
}

// What views hand out: the fold's own state, with the names that only the
// views' rows tell.

// Call is a call of a session.
type Call struct {
	fold.Call // Request is set where there is one

	Session string
	State   CallState
	Found   *Hit // with a Filter's Query: where its text was found first
}

// Hit is where a text was found.
type Hit struct {
	Text       string // "arguments", "result", "comment", "query", "message", "tool"
	Excerpt    []byte // around the match; whose text it is, Text says
	Start, End int    // of the match in Excerpt
}

// Current returns the reference to the text that runs, or would: the revised
// one where there is one, and the event in which it stands.
func (c Call) Current() (ref *events.Ref, carrier string) {
	if c.Request != nil {
		return c.Request.Arguments, c.Request.Carrier
	}
	return c.Arguments, c.EventID
}

// Request is a request with the call it is about.
type Request struct {
	fold.Request

	Session string
	Call    fold.Call
}

// Decision is a decision, revision or revocation as it stands in the log.
type Decision struct {
	At      events.Position
	EventID string
	Session string
	Request string
	Reason  fold.Reason // why it did not count; "" where it did
	Event   events.Event
}

// Counted reports whether the decision had an effect.
func (d Decision) Counted() bool { return d.Reason == "" }

// Session is a session's line.
type Session struct {
	ID         string
	Principal  string
	Agent      string
	Model      string
	State      SessionState
	Records    int
	Calls      int
	Waiting    int         // undecided requests
	Violations int         // what the watch found in it: see ViolationsOf
	Unverified int         // starts that the watch cannot judge: the log does not tell the policy's text
	Unenforced int         // starts that ran elsewhere, so that the gate answers for none of them
	Title      *events.Ref // to the first run's query; nil where there is none
	Blocked    string
	At         events.Position // of its first record
}

// Run is a run without its rounds.
type Run struct {
	fold.Run

	Session string
}

// Access is an act on the record.
type Access struct {
	At      events.Position
	Session string
	events.Access
}

// Aside is a record that could not be read or stored.
type Aside struct {
	At     events.Position
	Reason string
	Raw    []byte
}

// Step is a record of a session, with what the fold said of it.
type Step struct {
	fold.Record

	Reason fold.Reason // why it moved nothing; "" where it counts
}

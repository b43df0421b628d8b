package fold

import (
	"errors"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Record is a decoded record, ready to be applied.
type Record struct {
	events.Position
	Envelope events.Envelope
	Digest   events.Digest // SHA-256 of the envelope's bytes
	Event    events.Event  // nil where Err is set
	Err      error         // what Envelope or Event could not be read as
}

// Decode reads a record's envelope and data. It does not fail: what cannot be
// read carries its error and moves nothing.
func Decode(r events.Record) Record {
	d := Record{Position: r.Position(), Digest: events.DigestOf(r.Envelope)}
	if d.Envelope, d.Err = events.DecodeEnvelope(r.Envelope); d.Err == nil {
		d.Event, d.Err = d.Envelope.Event()
	}
	return d
}

// time returns the log time of the record.
func (r Record) time() time.Time { return time.UnixMicro(r.LogTime) }

// Session is the state of one session after a prefix of its records.
type Session struct {
	ID string
	// Principal began the conversation and owns it; "" before its first run or
	// call.
	Principal string
	Calls     map[events.CallKey]*Call
	Requests  map[string]*Request
	Runs      []*Run // in log order; only the last may be unfinished
	// Blocked says which critical record this build cannot read; starts do not
	// count until the gate is upgraded. "" where there is none.
	Blocked string
	// Last is the position of the last record applied.
	Last events.Position
}

// Call is a tool call: asked for once, perhaps decided, perhaps started, ended
// once.
type Call struct {
	events.ToolCall
	EventID string
	Digest  events.Digest // of the tool_call record's envelope
	At      events.Position
	Request *Request // nil where nobody was asked
	Start   *Start   // the start that counts
	// Lost is the id of the recovered event by which what is lost of the log may
	// have started the call: it starts no more, and ends as ambiguous. "" where
	// there is none.
	Lost   string
	Result *Result // the result that counts
}

// Start is the start of a call that counts.
type Start struct {
	events.ToolStarted
	EventID string
	At      events.Position
}

// Result is the result of a call that counts.
type Result struct {
	events.ToolResult
	EventID string
	At      events.Position
}

// Open reports whether the call has no result yet.
func (c *Call) Open() bool { return c.Result == nil }

// NewSession returns the state before the first record.
func NewSession(id string) *Session {
	return &Session{ID: id, Calls: map[events.CallKey]*Call{}, Requests: map[string]*Request{}}
}

// Apply moves the state by the next record of the session.
func (s *Session) Apply(r Record) Outcome {
	s.Last = r.Position
	if r.Event == nil {
		if r.Envelope.Critical && ofAnotherBuild(r.Err) && s.Blocked == "" {
			s.Blocked = r.Err.Error()
		}
		return not(ReasonUnreadable)
	}
	switch e := r.Event.(type) {
	case *events.ToolCall:
		return s.call(r, e)
	case *events.ApprovalRequest:
		return s.request(r, e)
	case *events.Decision:
		return s.decision(r, e)
	case *events.Revision:
		return s.revision(r, e)
	case *events.Revocation:
		return s.revocation(r, e)
	case *events.ToolStarted:
		return s.start(r, e)
	case *events.ToolResult:
		return s.result(r, e)
	case *events.RunStarted:
		return s.runStarted(r, e)
	case *events.RoundFinished:
		return s.roundFinished(r, e)
	case *events.RunCancelled:
		return s.runCancelled(r, e)
	case *events.RunFinished:
		return s.runFinished(r, e)
	case *events.Recovered:
		return s.recovered(r, e)
	case *events.SubagentStarted, *events.SubagentFinished:
		return not(ReasonNotFolded)
	case *events.Definition, *events.Person, *events.Boot, *events.Alive, *events.Shutdown, *events.ClockStep,
		*events.Access, *events.Checkpoint:
		return not(ReasonNotFolded)
	}
	return not(ReasonNotFolded)
}

// ofAnotherBuild reports whether a record could not be read because this build
// does not know its type or version: what is malformed stops nothing.
func ofAnotherBuild(err error) bool {
	return errors.Is(err, events.ErrUnknownType) || errors.Is(err, events.ErrUnknownVersion)
}

func (s *Session) call(r Record, e *events.ToolCall) Outcome {
	switch {
	case s.Principal != "" && s.Principal != e.Principal:
		return not(ReasonNotOwner) // first, as for a run
	case s.Calls[e.CallKey] != nil:
		return not(ReasonRepeated)
	case e.RunID != "" && !s.runs(e.RunID):
		return not(ReasonUnknownRun)
	}
	s.Principal = e.Principal
	c := &Call{ToolCall: *e, EventID: r.Envelope.ID, Digest: r.Digest, At: r.Position}
	s.Calls[e.CallKey] = c
	if run := s.Run(); run != nil && e.RunID == run.ID {
		run.Calls++
	}
	return counts()
}

// Busy reports whether anything in the session is unfinished: a run, or a call
// without a result.
func (s *Session) Busy() bool {
	if s.Run() != nil {
		return true
	}
	for _, c := range s.Calls {
		if c.Open() {
			return true
		}
	}
	return false
}

package projections

import (
	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// The stored form of a document is the fold's own state as JSON. It need not
// be read by another build: the stamp sees to that.

// exec runs a statement whose first parameters are the record's place.
func (r folded) exec(query string, args ...any) error {
	_, err := r.tx.ExecContext(r.ctx, query, append([]any{r.LogTime, r.Partition, off(r.Position)}, args...)...)
	return err
}

// doc is a value as it is stored.
func doc(v any) (string, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	return string(b), err
}

// remember stores that the record exists, and touches its session.
func (r folded) remember() error {
	if err := r.exec("INSERT INTO records (log_time, part, off, row, session, type, event, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		r.row, r.Envelope.SessionID, string(r.Envelope.Type), r.Envelope.ID, string(r.outcome.Reason)); err != nil {
		return err
	}
	if r.session == nil {
		return nil
	}
	return r.touch()
}

// touch keeps the session's line.
func (r folded) touch() error {
	s := r.session
	agent, model, title, err := about(s)
	if err != nil {
		return err
	}
	return r.exec(`INSERT INTO sessions (log_time, part, off, id, principal, agent, model, state, calls, waiting, title, blocked, records, began)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
		ON CONFLICT (id) DO UPDATE SET principal = excluded.principal, agent = excluded.agent, model = excluded.model,
			state = excluded.state, calls = excluded.calls, waiting = excluded.waiting, title = excluded.title,
			blocked = excluded.blocked, records = records + 1`,
		s.ID, s.Principal, agent, model, string(stateOf(s)), len(s.Calls), waiting(s), title, s.Blocked, r.LogTime)
}

// about says what a session's line tells of it: by its first run, or by any
// call where the loop is not ours.
func about(s *fold.Session) (agent, model, title string, err error) {
	if len(s.Runs) > 0 {
		first := s.Runs[0]
		title, err = doc(first.Query.CarriedBy(first.EventID))
		return first.Agent.Name, first.Model, title, err
	}
	var oldest *fold.Call
	for _, c := range s.Calls {
		if oldest == nil || c.At.Compare(oldest.At) < 0 {
			oldest = c
		}
	}
	if oldest == nil {
		return "", "", "", nil
	}
	return oldest.Agent.Name, oldest.Model, "", nil
}

func waiting(s *fold.Session) (n int) {
	for _, q := range s.Requests {
		if q.State == fold.Pending {
			n++
		}
	}
	return n
}

// store derives the rows of a record that can be read.
func (r folded) store() error {
	if err := r.remember(); err != nil {
		return err
	}
	switch e := r.Event.(type) {
	case *events.ToolCall:
		return r.call(e.CallKey)
	case *events.ToolStarted:
		return r.call(e.CallKey)
	case *events.ToolResult:
		return r.call(e.CallKey)
	case *events.ApprovalRequest:
		return r.asked(e)
	case *events.Revision:
		return r.decided(e.RequestID, e)
	case *events.Decision:
		return r.decided(e.RequestID, e)
	case *events.Revocation:
		return r.decided(e.RequestID, e)
	case *events.RunStarted:
		return r.run(e.RunID)
	case *events.RunCancelled:
		return r.run(e.RunID)
	case *events.RunFinished:
		return r.run(e.RunID)
	case *events.RoundFinished:
		return r.round(e)
	case *events.Person:
		return r.person(e)
	case *events.Access:
		return r.access(e)
	case *events.SubagentStarted, *events.SubagentFinished, *events.Definition, *events.Boot, *events.Alive, *events.Shutdown,
		*events.ClockStep, *events.Recovered, *events.Checkpoint:
		return nil // their line among the records is all
	}
	return nil
}

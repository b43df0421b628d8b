package projections

import (
	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// The stored form of a document is the fold's own state as JSON. It need not
// be read by another build: the stamp sees to that.

// exec adds a statement whose first parameters are the record's place.
func (r folded) exec(query string, args ...any) {
	all := make([]any, 0, 3+len(args))
	r.batch.exec(query, append(append(all, r.LogTime, r.Partition, off(r.Position)), args...)...)
}

// doc is a value as it is stored.
func doc(v any) (string, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	return string(b), err
}

// store derives the rows of a record that can be read, besides those of what it
// moved: see batch.put.
func (r folded) store() error {
	switch e := r.Event.(type) {
	case *events.Revision:
		return r.decided(e.RequestID, e)
	case *events.Decision:
		return r.decided(e.RequestID, e)
	case *events.Revocation:
		return r.decided(e.RequestID, e)
	case *events.RoundFinished:
		return r.round(e)
	case *events.Person:
		return r.person(e)
	case *events.Access:
		return r.access(e)
	case *events.Definition:
		return r.definition(e)
	case *events.Boot, *events.Shutdown, *events.ClockStep, *events.Recovered:
		return r.process(e)
	case *events.ToolCall, *events.ToolStarted, *events.ToolResult, *events.ApprovalRequest, *events.RunStarted, *events.RunCancelled,
		*events.RunFinished, *events.SubagentStarted, *events.SubagentFinished, *events.Alive, *events.Checkpoint:
		return nil
	}
	return nil
}

// decided stores a decision, revision or revocation, counted or not.
func (r folded) decided(request string, e events.Event) error {
	text, err := doc(e)
	if err != nil {
		return err
	}
	r.exec(`INSERT INTO decisions (log_time, part, off, row, request, session, event, type, reason, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.row, request, r.Envelope.SessionID, r.Envelope.ID, string(e.Type()), string(r.outcome.Reason), text)
	return nil
}

func (r folded) round(e *events.RoundFinished) error {
	if !r.outcome.Counts {
		return nil
	}
	text, err := doc(&fold.Round{RoundFinished: *e, EventID: r.Envelope.ID, At: r.Position})
	if err != nil {
		return err
	}
	r.batch.exec("INSERT INTO rounds (row, session, batch, event, doc) VALUES (?, ?, ?, ?, ?)",
		r.row, r.session.ID, e.BatchID, r.Envelope.ID, text)
	return nil
}

func (r folded) person(e *events.Person) error {
	text, err := doc(e.Name)
	if err != nil {
		return err
	}
	r.batch.exec(`INSERT INTO people (person, event, name) VALUES (?, ?, ?)
		ON CONFLICT (person) DO UPDATE SET event = excluded.event, name = excluded.name`, e.Person, r.Envelope.ID, text)
	return nil
}

func (r folded) access(e *events.Access) error {
	text, err := doc(e)
	if err != nil {
		return err
	}
	var person string
	if e.Actor != nil {
		person = e.Actor.Person
	}
	r.exec("INSERT INTO access (log_time, part, off, row, session, person, action, resource, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.row, r.Envelope.SessionID, person, e.Action, e.Resource, text)
	return nil
}

package projections

import (
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// call stores a call as it stands, if the record moved it.
func (r folded) call(key events.CallKey) error {
	if !r.outcome.Counts {
		return nil
	}
	c := r.session.Calls[key]
	if err := r.putCall(c); err != nil || c.Request == nil {
		return err
	}
	return r.putRequest(c.Request)
}

func (r folded) putCall(c *fold.Call) error {
	bare := *c
	bare.Request = nil // has a row of its own
	text, err := doc(&bare)
	if err != nil {
		return err
	}
	var request string
	if c.Request != nil {
		request = c.Request.RequestID
	}
	_, err = r.tx.ExecContext(r.ctx, `INSERT INTO calls (session, batch, idx, tool, state, request, log_time, part, off, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, batch, idx) DO UPDATE SET state = excluded.state, request = excluded.request, doc = excluded.doc`,
		r.session.ID, c.BatchID, c.Index, c.Tool, string(stateOfCall(c)), request,
		c.At.LogTime, c.At.Partition, off(c.At), text)
	return err
}

// putRequest stores a request as it stands.
func (r folded) putRequest(q *fold.Request) error {
	text, err := doc(q)
	if err != nil {
		return err
	}
	_, err = r.tx.ExecContext(r.ctx, `INSERT INTO requests (id, session, state, log_time, part, off, doc) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, doc = excluded.doc`,
		q.RequestID, r.session.ID, string(q.State), q.At.LogTime, q.At.Partition, off(q.At), text)
	return err
}

// moved stores a request and its call, if the record moved them.
func (r folded) moved(id string) error {
	if !r.outcome.Counts {
		return nil
	}
	q := r.session.Requests[id]
	if err := r.putRequest(q); err != nil {
		return err
	}
	return r.putCall(r.session.Calls[q.CallKey])
}

// asked stores a request, and who may read its session from now on.
func (r folded) asked(e *events.ApprovalRequest) error {
	if !r.outcome.Counts {
		return nil
	}
	approvers := e.Approvers
	if len(approvers) == 0 {
		approvers = []string{everyReviewer}
	}
	for _, approver := range approvers {
		if _, err := r.tx.ExecContext(r.ctx, "INSERT OR IGNORE INTO asked (session, approver) VALUES (?, ?)", r.session.ID, approver); err != nil {
			return err
		}
	}
	return r.moved(e.RequestID)
}

// decided stores a decision, revision or revocation, counted or not.
func (r folded) decided(request string, e events.Event) error {
	text, err := doc(e)
	if err != nil {
		return err
	}
	var session string
	if r.session != nil {
		session = r.session.ID
	}
	if err := r.exec(`INSERT INTO decisions (log_time, part, off, row, request, session, event, type, reason, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.row, request, session, r.Envelope.ID, string(e.Type()), string(r.outcome.Reason), text); err != nil {
		return err
	}
	return r.moved(request)
}

// run stores a run as it stands, without its rounds.
func (r folded) run(id string) error {
	if !r.outcome.Counts {
		return nil
	}
	for _, run := range r.session.Runs {
		if run.ID != id {
			continue
		}
		bare := *run
		bare.Rounds = nil
		text, err := doc(&bare)
		if err != nil {
			return err
		}
		_, err = r.tx.ExecContext(r.ctx, `INSERT INTO runs (session, id, log_time, part, off, doc) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (session, id) DO UPDATE SET doc = excluded.doc`,
			r.session.ID, id, run.At.LogTime, run.At.Partition, off(run.At), text)
		return err
	}
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
	_, err = r.tx.ExecContext(r.ctx, "INSERT INTO rounds (session, batch, event, doc) VALUES (?, ?, ?, ?)",
		r.session.ID, e.BatchID, r.Envelope.ID, text)
	return err
}

func (r folded) person(e *events.Person) error {
	text, err := doc(e.Name)
	if err != nil {
		return err
	}
	_, err = r.tx.ExecContext(r.ctx, `INSERT INTO people (person, event, name) VALUES (?, ?, ?)
		ON CONFLICT (person) DO UPDATE SET event = excluded.event, name = excluded.name`, e.Person, r.Envelope.ID, text)
	return err
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
	return r.exec("INSERT INTO access (log_time, part, off, row, session, person, action, resource, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.row, r.Envelope.SessionID, person, e.Action, e.Resource, text)
}

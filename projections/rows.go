package projections

import (
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// put stores what changed of a session, as it is now.
func (b *batch) put(s *session) error {
	if err := b.putSession(s); err != nil {
		return err
	}
	for _, r := range s.changedRuns {
		if err := b.putRun(s, r); err != nil {
			return err
		}
	}
	for _, q := range s.changedRequests {
		if err := b.putRequest(s, q); err != nil {
			return err
		}
	}
	for _, c := range s.changedCalls {
		if err := b.putCall(s, c); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) putSession(s *session) error {
	agent, model, title, err := about(s.Session)
	if err != nil {
		return err
	}
	b.exec(`INSERT INTO sessions (row, log_time, part, off, id, principal, agent, model, state, records, calls, waiting, title, blocked)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (row) DO UPDATE SET principal = excluded.principal, agent = excluded.agent, model = excluded.model,
			state = excluded.state, records = excluded.records, calls = excluded.calls, waiting = excluded.waiting,
			title = excluded.title, blocked = excluded.blocked`,
		s.row, s.at.LogTime, s.at.Partition, off(s.at), s.ID, s.Principal, agent, model, string(stateOf(s.Session)), s.records,
		len(s.Calls), waiting(s.Session), title, s.Blocked)
	return nil
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

// putRun stores a run without its rounds.
func (b *batch) putRun(s *session, r *runRow) error {
	bare := *s.runOf(r.id)
	bare.Rounds = nil
	text, err := doc(&bare)
	if err != nil {
		return err
	}
	b.exec(`INSERT INTO runs (row, log_time, part, off, session, id, doc) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (row) DO UPDATE SET doc = excluded.doc`,
		r.row, bare.At.LogTime, bare.At.Partition, off(bare.At), s.ID, r.id, text)
	return nil
}

func (b *batch) putRequest(s *session, row *requestRow) error {
	q := s.Requests[row.id]
	text, err := doc(q)
	if err != nil {
		return err
	}
	b.exec(`INSERT INTO requests (row, log_time, part, off, id, session, state, call, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (row) DO UPDATE SET state = excluded.state, doc = excluded.doc`,
		row.row, q.At.LogTime, q.At.Partition, off(q.At), row.id, s.ID, string(q.State), s.calls[q.CallKey].row, text)
	return nil
}

// putCall stores a call without its request, which has a row of its own.
func (b *batch) putCall(s *session, row *callRow) error {
	c := s.Calls[row.key]
	bare := *c
	bare.Request = nil
	text, err := doc(&bare)
	if err != nil {
		return err
	}
	var request string
	if c.Request != nil {
		request = c.Request.RequestID
	}
	decider, approved := decidedBy(c.Request)
	b.exec(`INSERT INTO calls (row, log_time, part, off, session, batch, idx, tool, agent, rule, state, asker, decider, approved, request, doc)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (row) DO UPDATE SET state = excluded.state, decider = excluded.decider, approved = excluded.approved,
			request = excluded.request, doc = excluded.doc`,
		row.row, c.At.LogTime, c.At.Partition, off(c.At), s.ID, c.BatchID, c.Index, c.Tool, c.Agent.Name, c.Rule, string(stateOfCall(c)),
		c.Principal, decider, approved, request, text)
	return nil
}

// decidedBy returns the person whose decision ended a request, and whether it
// was an approval.
func decidedBy(q *fold.Request) (person string, approved bool) {
	if q == nil || q.End == nil || q.End.Cause != events.CauseHuman || q.End.Actor == nil {
		return "", false
	}
	return q.End.Actor.Person, q.State == fold.Approved
}

package projections

import (
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// session is a session in memory: its fold, and which rows its state has in the
// tables. It follows from the session's records alone, so it can be forgotten
// at any time and read again from the log.
type session struct {
	*fold.Session

	row      int64           // of its first record
	at       events.Position // of its first record
	records  int
	calls    map[events.CallKey]*callRow
	requests map[string]*requestRow
	runs     map[string]*runRow
	turns    map[string]text // messages, by batch, until the first call of their turn comes
	asked    map[string]bool // who was asked
	traces   traces          // what the watch must know besides

	changed         bool // since its rows were written; so in the lists
	changedCalls    []*callRow
	changedRequests []*requestRow
	changedRuns     []*runRow
}

// callRow is the row of a call, and how many texts it has besides arguments and
// result.
type callRow struct {
	row     int64
	key     events.CallKey
	texts   int64
	changed bool
}

type requestRow struct {
	row     int64
	id      string
	changed bool
}

type runRow struct {
	row     int64
	id      string
	query   text     // until the run's first call comes
	last    *callRow // the last call so far
	changed bool
}

func newSession(id string) *session {
	return &session{
		Session: fold.NewSession(id), calls: map[events.CallKey]*callRow{}, requests: map[string]*requestRow{}, runs: map[string]*runRow{},
		turns: map[string]text{}, asked: map[string]bool{},
	}
}

// moved is what a record did to a session.
type moved struct {
	fold.Outcome

	texts []text   // to be found from now on
	asked []string // who was asked for the first time
}

// apply moves the session by its next record. What panics is an error, and
// moves nothing more: nothing in a record may stop the views.
func (s *session) apply(r fold.Record, row int64) (m moved, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if s.row == 0 {
		s.row, s.at = row, r.Position
	}
	s.records++
	s.changed = true
	m.Outcome = s.Apply(r)
	s.traces.note(r, m.Counts)
	if m.Counts {
		m.asked = s.mark(r.Event, row)
	}
	m.texts = s.texts(r, row, m.Counts)
	return m, nil
}

// mark notes which rows a record that counts changed.
func (s *session) mark(e events.Event, row int64) (asked []string) {
	switch e := e.(type) {
	case *events.ToolCall:
		s.calls[e.CallKey] = &callRow{row: row, key: e.CallKey}
		s.changeCall(e.CallKey)
		s.changeRun(e.RunID)
	case *events.ToolStarted:
		s.changeCall(e.CallKey)
	case *events.ToolResult:
		s.changeCall(e.CallKey)
	case *events.ApprovalRequest:
		s.requests[e.RequestID] = &requestRow{row: row, id: e.RequestID}
		s.changeRequest(e.RequestID)
		asked = s.ask(e.Approvers)
	case *events.Revision:
		s.changeRequest(e.RequestID)
	case *events.Decision:
		s.changeRequest(e.RequestID)
	case *events.Revocation:
		s.changeRequest(e.RequestID)
	case *events.RunStarted:
		s.runs[e.RunID] = &runRow{row: row, id: e.RunID}
		s.changeRun(e.RunID)
	case *events.RunCancelled:
		s.changeRun(e.RunID)
	case *events.RunFinished:
		s.changeRun(e.RunID)
	default: // has no row that changes
	}
	return asked
}

func (s *session) changeCall(key events.CallKey) {
	c := s.calls[key]
	if !c.changed {
		c.changed, s.changedCalls = true, append(s.changedCalls, c)
	}
	if q := s.Calls[key].Request; q != nil {
		s.noteRequest(q.RequestID)
	}
}

// changeRequest notes that a request changed, and with it its call.
func (s *session) changeRequest(id string) {
	s.noteRequest(id)
	s.changeCall(s.Requests[id].CallKey)
}

func (s *session) noteRequest(id string) {
	if q := s.requests[id]; !q.changed {
		q.changed, s.changedRequests = true, append(s.changedRequests, q)
	}
}

func (s *session) changeRun(id string) {
	if r := s.runs[id]; r != nil && !r.changed {
		r.changed, s.changedRuns = true, append(s.changedRuns, r)
	}
}

// ask returns which approvers were not asked before in this session.
func (s *session) ask(approvers []string) (first []string) {
	if len(approvers) == 0 {
		approvers = []string{everyReviewer}
	}
	for _, a := range approvers {
		if !s.asked[a] {
			s.asked[a], first = true, append(first, a)
		}
	}
	return first
}

// written notes that the rows are as the session is.
func (s *session) written() {
	for _, c := range s.changedCalls {
		c.changed = false
	}
	for _, q := range s.changedRequests {
		q.changed = false
	}
	for _, r := range s.changedRuns {
		r.changed = false
	}
	s.changed = false
	s.changedCalls, s.changedRequests, s.changedRuns = s.changedCalls[:0], s.changedRequests[:0], s.changedRuns[:0]
}

// runOf returns the run of an id as the session has it.
func (s *session) runOf(id string) *fold.Run {
	if i := slices.IndexFunc(s.Runs, func(r *fold.Run) bool { return r.ID == id }); i >= 0 {
		return s.Runs[i]
	}
	return nil
}

package fold

import (
	"slices"

	"github.com/countersign-dev/countersign/events"
)

// Run is what a conversation was asked once, and what came of it.
type Run struct {
	events.RunStarted
	ID        string
	EventID   string
	At        events.Position
	Rounds    []*Round // finished ones, failed ones too, in log order
	Calls     int      // that count
	Cancelled *events.RunCancelled
	Finished  *events.RunFinished
	EndedAt   events.Position // of what finished it
}

// Round is one finished model round of a run.
type Round struct {
	events.RoundFinished
	EventID string
	At      events.Position
}

// Run returns the session's unfinished run, or nil.
func (s *Session) Run() *Run {
	if n := len(s.Runs); n > 0 && s.Runs[n-1].Finished == nil {
		return s.Runs[n-1]
	}
	return nil
}

// runs reports whether the run of the given id is the unfinished one.
func (s *Session) runs(id string) bool {
	r := s.Run()
	return r != nil && r.ID == id
}

// RunOver reports whether the run of the given id is cancelled or has finished,
// so that none of its calls can start. "" is no run, and never over.
func (s *Session) RunOver(id string) bool {
	if id == "" {
		return false
	}
	return !s.runs(id) || s.Run().Cancelled != nil
}

func (s *Session) runStarted(r Record, e *events.RunStarted) Outcome {
	switch {
	case s.Principal != "" && s.Principal != e.Principal:
		return not(ReasonNotOwner) // first: a stranger learns nothing else of the conversation
	case s.Run() != nil:
		return not(ReasonBusy)
	case slices.ContainsFunc(s.Runs, func(o *Run) bool { return o.ID == e.RunID }):
		return not(ReasonRepeated)
	}
	s.Principal = e.Principal
	s.Runs = append(s.Runs, &Run{RunStarted: *e, ID: e.RunID, EventID: r.Envelope.ID, At: r.Position})
	return counts()
}

// roundFinished counts the next round of the unfinished run, or the next
// attempt at one that failed.
func (s *Session) roundFinished(r Record, e *events.RoundFinished) Outcome {
	if !s.runs(e.RunID) {
		return not(ReasonUnknownRun)
	}
	run := s.Run()
	if round, attempt := run.Next(); e.Round != round || e.Attempt != attempt {
		return not(ReasonOutOfOrder)
	}
	for _, o := range run.Rounds {
		if o.BatchID == e.BatchID {
			return not(ReasonRepeated)
		}
	}
	run.Rounds = append(run.Rounds, &Round{RoundFinished: *e, EventID: r.Envelope.ID, At: r.Position})
	return counts()
}

// Next returns the number of the round that comes next, and of the attempt at
// it.
func (r *Run) Next() (round, attempt int) {
	last := r.Last()
	switch {
	case last == nil:
		return 1, 1
	case last.Outcome == events.RoundFailed:
		return last.Round, last.Attempt + 1
	}
	return last.Round + 1, 1
}

// Last returns the run's last finished round, or nil.
func (r *Run) Last() *Round {
	if len(r.Rounds) == 0 {
		return nil
	}
	return r.Rounds[len(r.Rounds)-1]
}

// Usage returns the tokens of all rounds; see events.Usage.Add.
func (r *Run) Usage() events.Usage {
	var u events.Usage
	for _, o := range r.Rounds {
		u = u.Add(o.Usage)
	}
	return u
}

// Turn returns the calls of a round that are recorded, by index; missing ones
// are nil.
func (s *Session) Turn(r *Round) []*Call {
	calls := make([]*Call, r.Calls)
	for i := range calls {
		calls[i] = s.Calls[events.CallKey{BatchID: r.BatchID, Index: i}]
	}
	return calls
}

func (s *Session) runCancelled(_ Record, e *events.RunCancelled) Outcome {
	if !s.runs(e.RunID) {
		return not(ReasonUnknownRun)
	}
	run := s.Run()
	if run.Cancelled != nil {
		return not(ReasonRepeated)
	}
	run.Cancelled = e
	return counts()
}

func (s *Session) runFinished(r Record, e *events.RunFinished) Outcome {
	if !s.runs(e.RunID) {
		return not(ReasonUnknownRun)
	}
	run := s.Run()
	run.Finished, run.EndedAt = e, r.Position
	return counts()
}

package projections

import (
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// wrongResult says what is wrong with a result that the fold does not count and
// that tells of a run. One that tells of none cannot be of something that ran.
func wrongResult(r folded, e *events.ToolResult) wrong {
	if r.outcome.Counts || e.Executor == "" && e.Status != events.StatusOK {
		return wrong{}
	}
	c := r.session.Calls[e.CallKey]
	switch {
	case c == nil:
		return wrong{ResultWithoutStart, "it tells the result of a call that nobody asked for"}
	case c.Enforcement == events.Observed:
		return wrong{}
	case c.Start == nil:
		return wrong{ResultWithoutStart, "it tells that a call ran, and the log has no start that counts"}
	case e.Executor != c.Start.Executor:
		return wrong{ExecutedTwice, "it tells that another executor ran the call than the one that started it"}
	case c.Result != nil && c.Result.Executor == e.Executor:
		return wrong{ExecutedTwice, "it tells a second result of a call that ran"}
	case e.Tool != c.Tool:
		return wrong{DigestChanged, "it tells the result of another tool than was asked for"}
	}
	return wrong{} // late, from an executor that was taken for lost
}

// watchRound holds the turn before a round against the promise that each of its
// calls gets a result first.
func (d *delta) watchRound(r folded, e *events.RoundFinished) {
	if !r.outcome.Counts {
		return
	}
	run := r.session.Run()
	if run == nil || run.ID != e.RunID {
		return
	}
	d.watchTurn(r, run.Rounds[:len(run.Rounds)-1])
}

// watchTurn looks for calls without a result in the last turn of some rounds.
// Earlier turns were looked at when the next round came.
func (d *delta) watchTurn(r folded, rounds []*fold.Round) {
	for _, round := range slices.Backward(rounds) {
		if round.Outcome == events.RoundCalls {
			d.find(r, firstOpen(r.session, round), unanswered(r.session, round))
			return
		}
	}
}

func unanswered(s *fold.Session, round *fold.Round) wrong {
	open := 0
	for _, c := range s.Turn(round) {
		if c == nil || c.Open() {
			open++
		}
	}
	if open == 0 {
		return wrong{}
	}
	return wrong{ResponseMissing, fmt.Sprintf("%d of %d calls of the turn before have no result", open, round.Calls)}
}

// firstOpen is the first call of a turn that has no result.
func firstOpen(s *fold.Session, round *fold.Round) events.CallKey {
	for i, c := range s.Turn(round) {
		if c == nil || c.Open() {
			return events.CallKey{BatchID: round.BatchID, Index: i}
		}
	}
	return events.CallKey{BatchID: round.BatchID}
}

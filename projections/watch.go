package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// The watch holds the log against what the gate promises, from records and
// folds alone, as if the gate could not be trusted. What it finds is a violation
// only where something ran, or is said to run, that nobody let run, or where a
// call was left without an answer. It must not cry wolf, so it knows what a gate
// that works appends without anything having run:
//
//   - A start that lost a race: against a revocation, the end of the run, the
//     lapse of the approval, the same start by another node. The fold does not
//     count it, and the executor runs nothing before the fold has. A race is one
//     where the two records stand close: see raceBound.
//   - A start of a call that the fold did not count (its run was over, its key
//     was used), in the commit of that call. Nobody carries such a call.
//   - A second end of a call by another node, and the late result of an executor
//     that was taken for lost: what it tells did happen once.
//
// What ran elsewhere, by the caller's word or seen from outside, nobody enforces.
// The watch counts it apart, and says of no such start that it holds.

// watched is what the watch found in a batch.
type watched struct {
	found    []Violation
	doubts   map[doubt]int
	policies []learnt
}

// doubt is what is counted of a session of which the watch says neither that it
// holds nor that it does not.
type doubt struct{ session, finding string }

// learnt is the definition of a policy.
type learnt struct {
	digest events.Digest
	policyText
}

// What the watch finds of a start: label finding.
const (
	foundGood       = "good"       // it has its warrant, and the recorded policy agrees
	foundUnverified = "unverified" // the log does not tell the policy's text, so it cannot be judged again
	foundUnenforced = "unenforced" // it ran elsewhere: by the caller's word, or seen from outside
	foundViolation  = "violation"
)

// findings are all of them.
func findings() []string {
	return []string{foundGood, foundUnverified, foundUnenforced, foundViolation}
}

// watch holds one record against the invariants.
func (d *delta) watch(ctx context.Context, r folded, source Source) error {
	if e, ok := r.Event.(*events.Definition); ok {
		if e.Kind == events.DefinePolicy && d.book.policies.learn(r.Envelope.ID, e) {
			d.watched.policies = append(d.watched.policies, learnt{e.Digest, d.book.policies.texts[e.Digest]})
		}
		return nil
	}
	if r.Event == nil {
		return nil
	}
	if r.session == nil {
		if e, ok := r.Event.(*events.ToolStarted); ok { // no fold has it, so nothing warrants it
			d.find(r, e.CallKey, wrong{ExecutedWithoutApproval, "a start that names no session"})
		}
		return nil
	}
	switch e := r.Event.(type) {
	case *events.ToolCall:
		if r.outcome.Counts && e.RunID != "" && e.Enforcement != events.Enforced {
			d.find(r, e.CallKey, wrong{NotEnforced, "it says of a call of our own loop that another program runs it"})
		}
	case *events.ToolStarted:
		return d.watchStart(ctx, r, e, source)
	case *events.ToolResult:
		d.find(r, e.CallKey, wrongResult(r, e))
	case *events.RoundFinished:
		d.watchRound(r, e)
	case *events.RunFinished:
		if r.outcome.Counts {
			run := r.session.Runs[len(r.session.Runs)-1]
			d.watchTurn(r, run.Rounds)
		}
	default: // no promise is about it
	}
	return nil
}

// wrong is what a record breaks, and how; the zero value is nothing.
type wrong struct {
	invariant Invariant
	detail    string
}

func (d *delta) find(r folded, key events.CallKey, w wrong) {
	if w == (wrong{}) {
		return
	}
	d.watched.found = append(d.watched.found, Violation{
		At: r.Position, Session: r.Envelope.SessionID, Key: key, Invariant: w.invariant, EventID: r.Envelope.ID, Detail: w.detail,
	})
}

// doubts counts a start of which the watch does not say that it holds.
func (d *delta) doubts(r folded, finding string) {
	d.add(famStarts, labels{finding}, tally{n: 1})
	if d.watched.doubts == nil {
		d.watched.doubts = map[doubt]int{}
	}
	d.watched.doubts[doubt{r.Envelope.SessionID, finding}]++
}

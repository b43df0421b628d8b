package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// Invariant is a promise of the gate that the watch holds the log against.
type Invariant string

// The invariants, as the metrics name what breaks them.
const (
	ExecutedWithoutApproval Invariant = "executed_without_approval"
	ExecutedAfterDecline    Invariant = "executed_after_decline" // or after its request, approval or run ended otherwise
	ExecutedTwice           Invariant = "executed_twice"
	DigestChanged           Invariant = "digest_changed"       // other arguments, tool or text than was approved
	ResponseMissing         Invariant = "response_missing"     // a call without a result when its turn was over
	ResultWithoutStart      Invariant = "result_without_start" // the result of a run that no start announced
	NotEnforced             Invariant = "not_enforced"         // said to run elsewhere, though our executor was to run it
)

// Invariants are all of them, in the order in which they are shown.
func Invariants() []Invariant {
	return []Invariant{
		ExecutedWithoutApproval, ExecutedAfterDecline, ExecutedTwice, DigestChanged, ResponseMissing, ResultWithoutStart, NotEnforced,
	}
}

// Violation is a record that shows that an invariant broke.
type Violation struct {
	At        events.Position // of the record that shows it
	Session   string
	Key       events.CallKey // the call
	Invariant Invariant
	EventID   string // of the record
	Detail    string // what is wrong with it, in our words
}

const selectViolations = "SELECT v.log_time, v.part, v.off, v.session, v.batch, v.idx, v.invariant, v.event, v.detail FROM violations v"

// Violations returns what a reader may see of them, the newest first.
func (v *Views) Violations(ctx context.Context, reader Reader, cursor string, limit int) (Page[Violation], error) {
	name := "violations " + reader.listName()
	where, args, err := before("v", cursor, name)
	if err != nil {
		return Page[Violation]{}, err
	}
	visible, more := reader.where("v.session")
	args = append(append(args, more...), limit+1)
	items, err := list(ctx, v.db, scanViolation,
		selectViolations+" WHERE TRUE"+where+visible+" ORDER BY v.log_time DESC, v.part DESC, v.off DESC LIMIT ?", args...)
	return pageOf(items, limit, name, func(v Violation) events.Position { return v.At }), err
}

// ViolationsOf returns the violations of a session in log order, up to limit.
func (v *Views) ViolationsOf(ctx context.Context, session string, limit int) ([]Violation, error) {
	return list(ctx, v.db, scanViolation,
		selectViolations+" WHERE v.session = ? ORDER BY v.log_time, v.part, v.off LIMIT ?", session, limit)
}

func scanViolation(scan func(...any) error) (Violation, error) {
	var v Violation
	var at place
	err := scan(append(at.dest(), &v.Session, &v.Key.BatchID, &v.Key.Index, &v.Invariant, &v.EventID, &v.Detail)...)
	v.At = at.position()
	return v, err
}

package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

const keyUsed = "the Idempotency-Key was used for another decision"

// repeated returns the first decision that counted with the key of a ruling,
// or nil.
func repeated(q *fold.Request, r Ruling) *fold.Vote {
	if idempotency(r) == "" {
		return nil
	}
	key := keyOf(r) + "/"
	for i := range q.Decided {
		if strings.HasPrefix(q.Decided[i].Idempotency, key) {
			return &q.Decided[i]
		}
	}
	return nil
}

// again gives a retry the answer of the first.
func (g *Gate) again(ctx context.Context, s *session, r Ruling, first fold.Vote) (Answer, error) {
	if first.Verdict == events.VerdictModify {
		return g.modification(ctx, s, r, first.EventID)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return Answer{Accepted: true, Needed: s.Requests[r.RequestID].Needed(), EventID: first.EventID}, nil
}

// answerFor tells what the fold made of a decision. A modification is answered
// after its revision, or the end of the request, has come back.
func (g *Gate) answerFor(ctx context.Context, s *session, r Ruling, decision string, o fold.Outcome) (Answer, error) {
	answer, first := g.answerAt(s, r, decision, o)
	switch {
	case first != nil:
		return g.again(ctx, s, r, *first)
	case o.Counts && r.Verdict == events.VerdictModify:
		return g.modification(ctx, s, r, decision)
	}
	return answer, nil
}

// answerAt answers from what is known now. first is the decision that the
// ruling turned out to repeat, where both were posted at once.
func (g *Gate) answerAt(s *session, r Ruling, decision string, o fold.Outcome) (a Answer, first *fold.Vote) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := s.Requests[r.RequestID]
	first = repeated(q, r)
	switch {
	case first != nil && first.EventID != decision && first.Idempotency == idempotency(r):
		return a, first
	case o.Counts: // even under a key that was used for another decision
		return Answer{Accepted: true, Needed: q.Needed(), EventID: decision}, nil
	case first != nil && first.EventID != decision:
		return Answer{Reason: keyUsed, EventID: decision}, nil
	}
	a = Answer{Reason: g.whyNot(s.Session, q, r, o.Reason), EventID: decision}
	if o.Reason == fold.ReasonOtherDigest {
		a.Class = ClassMismatch
	}
	return a, nil
}

// modification waits for what a modification that counts became.
func (g *Gate) modification(ctx context.Context, s *session, r Ruling, decision string) (Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, g.opt.JudgedWithin, ErrNotBack)
	defer cancel()
	answer := Answer{EventID: decision}
	err := g.Watch(ctx, s.ID, func(f *fold.Session) bool {
		q := f.Requests[r.RequestID]
		for _, m := range q.Modifications {
			if m.EventID == decision && q.State == fold.Pending {
				return false
			}
		}
		answer.Accepted, answer.Needed, answer.Reason = g.became(f, q, decision)
		return true
	})
	if errors.Is(err, ErrNotBack) || errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w within %v", ErrNotBack, g.opt.JudgedWithin)
	}
	return answer, err
}

// became says whether a modification's text was put to the vote: it may be the
// current one, or have been changed again since.
func (g *Gate) became(s *fold.Session, q *fold.Request, decision string) (accepted bool, needed int, reason string) {
	for _, v := range q.Revisions {
		switch {
		case v.Modification != decision:
		case v.Outcome == events.RevisionAsks:
			return true, q.Needed(), ""
		default:
			return false, 0, cannotRun(v.Why)
		}
	}
	if q.State != fold.Pending {
		return false, 0, g.ended(s, q)
	}
	return false, 0, "the arguments were changed by someone else meanwhile; look at the request again"
}

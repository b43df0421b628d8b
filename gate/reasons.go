package gate

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

func (g *Gate) whyNot(s *fold.Session, q *fold.Request, r Ruling, reason fold.Reason) string {
	switch reason {
	case fold.ReasonNotPending:
		return g.ended(s, q)
	case fold.ReasonOtherDigest:
		return "the arguments were changed meanwhile; look at the request again"
	case fold.ReasonTooLate:
		return "its time is over: the answer came after " + clock(q.Deadline)
	case fold.ReasonNotPermitted:
		return notPermitted(q, r.Actor)
	case fold.ReasonVoted:
		return "you have approved it already; another person must too"
	default:
		return "it did not count (" + string(reason) + ")"
	}
}

func notPermitted(q *fold.Request, a *events.Actor) string {
	if a != nil && q.FourEyes && a.Person == q.Requester {
		return "rule " + q.Rule + " asks for four eyes: who asked may not decide"
	}
	if a != nil && q.FourEyes && a.Person == q.Author {
		return "rule " + q.Rule + " asks for four eyes: who wrote the arguments may not approve them"
	}
	return fmt.Sprintf("rule %s does not let you decide this request", q.Rule)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// ended says what ended a request, by whom and when.
func (g *Gate) ended(s *fold.Session, q *fold.Request) string {
	if q.End == nil {
		return closed(s.Calls[q.CallKey].Result)
	}
	when := clock(time.UnixMicro(q.End.At.LogTime))
	switch {
	case q.End.Cause == events.CauseTimeout:
		return "the request expired at " + when + ": nobody answered in time"
	case q.End.Cause == events.CauseHuman && q.State == fold.Approved:
		return fmt.Sprintf("the request was approved by %s at %s", g.opt.Names(q.End.Actor.Person), when)
	case q.End.Cause == events.CauseHuman:
		return fmt.Sprintf("the request was declined by %s at %s", g.opt.Names(q.End.Actor.Person), when)
	case q.End.Cause == events.CauseHandler:
		return fmt.Sprintf("the request was %s by the program's approval handler at %s", q.State, when)
	case q.End.Cause == events.CauseSuperseded:
		return "the request was declined at " + when + " because a new query took its place"
	default:
		return fmt.Sprintf("the request was ended at %s (%s)", when, q.End.Cause)
	}
}

// closed says why a request ended without a decision: by its call's result.
func closed(r *fold.Result) string {
	switch {
	case r != nil && r.Cause == events.CausePolicy:
		return "the request is closed: rule " + r.Rule + " denies the call now"
	case r != nil && r.Cause == events.CauseStale:
		return "the request is closed: tool or policy changed since it was asked"
	}
	return "the request is closed: its call has ended"
}

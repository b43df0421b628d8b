package gate

import (
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// plan is what comes next for a call.
type plan struct {
	ended   bool
	begun   bool         // it was started with its proposal, and its tool is yet to run
	over    events.Cause // set: it ends without a start, for this cause
	said    string       // with over: what the model is told; "" where explain knows
	rule    string       // with over: the rule that ended it; "" where that is the recorded one
	vote    *fold.Vote   // that ended its request, where one did
	revoked bool         // it was approved, and the approval was taken back
	warrant events.Warrant
	digest  events.Digest
	ref     *events.Ref    // arguments, with "in" set
	target  *events.Target // what was approved to be changed; nil where nothing was named
	carrier string
	text    []byte // the arguments, where they were read before
	call    fold.Call
}

// next says what comes next for a call, and whether that is known yet.
func (g *Gate) next(s *fold.Session, c *fold.Call, ran bool) (plan, bool) {
	p := plan{call: *c}
	switch {
	case c.Result != nil:
		p.ended = true
		return p, true
	case c.Start != nil && g.isBegun(c.Start.EventID):
		p.begun = true
		return p, true
	case c.Start != nil && !ran && g.abandoned(c.Start.Executor):
		p.over = events.CauseExecutorLost
		return p, true
	case c.Start != nil:
		return p, false // somebody runs it; its result will come
	case c.Request != nil && c.Request.State != fold.Approved:
		return decidedPlan(p, c.Request)
	case cancelledRun(s, c):
		p.over = causeOfCancel(s, c)
		return p, true
	case permitted(c) && g.holds(s, c):
		return p, false
	case c.Request != nil && g.overdue(c.Request):
		return p, false // lapse ends it; a start would come too late
	case c.Request != nil:
		return decidedPlan(p, c.Request)
	case c.Effect == events.EffectAllow:
		p.warrant = events.Warrant{Kind: events.WarrantRule, Rule: c.Rule, PolicyDigest: c.PolicyDigest}
		p.digest, p.ref, p.carrier = c.Digest, c.Arguments.CarriedBy(c.EventID), c.EventID
		return p, true
	case c.Effect == events.EffectDeny:
		p.over = events.CausePolicy
		return p, true
	}
	// A call that must ask, without a request: the commit held both, so only
	// another producer's log can look so. It does not run.
	p.over = events.CauseGateError
	return p, true
}

// isBegun reports whether this process minted a start and has not run its tool.
// mu is held.
func (g *Gate) isBegun(start string) bool {
	_, ok := g.begun[start]
	return ok
}

// abandoned reports whether nobody will tell the result of a start by this
// executor: it is an earlier boot, or a carry of this process that gave up
// before the start came back. The caller has the call in hand, so no other
// carry of this process runs it.
func (g *Gate) abandoned(executor string) bool { return executor == g.executor || g.gone(executor) }

// cancelledRun reports whether the run of a call is over, so that the call
// cannot start.
func cancelledRun(s *fold.Session, c *fold.Call) bool {
	if c.RunID == "" {
		return false
	}
	run := s.Run()
	return run == nil || run.ID != c.RunID || run.Cancelled != nil
}

// causeOfCancel is why the run of a call is over.
func causeOfCancel(s *fold.Session, c *fold.Call) events.Cause {
	for _, run := range s.Runs {
		if run.ID == c.RunID && run.Cancelled != nil {
			return run.Cancelled.Cause
		}
	}
	return events.CauseCancelled
}

func decidedPlan(p plan, q *fold.Request) (plan, bool) {
	switch {
	case q.State == fold.Approved && q.Revoked:
		p.over, p.revoked = events.CauseCancelled, true
	case q.State == fold.Approved:
		p.vote = q.End
		p.warrant = events.Warrant{Kind: events.WarrantDecision, Decision: q.End.EventID}
		p.digest, p.ref, p.carrier, p.target = q.Digest, carried(q), q.Carrier, q.Target
	case q.State == fold.Declined:
		p.over, p.vote = q.End.Cause, q.End
	default:
		return p, false
	}
	return p, true
}

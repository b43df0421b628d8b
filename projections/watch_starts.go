package projections

import (
	"cmp"
	"context"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// watchStart judges a start: one that does not count by whether anything could
// have excused it, and any other under the recorded policy, asked again.
func (d *delta) watchStart(ctx context.Context, r folded, e *events.ToolStarted, source Source) error {
	c := r.session.Calls[e.CallKey]
	w := wrong{}
	switch refused := r.traces.startsRefused(r.Record, e); {
	case r.outcome.Counts:
		w = cmp.Or(weakened(c, e), d.book.unaccepted(c, e))
	case refused != nil:
		c = &fold.Call{ToolCall: *refused}
	case c == nil:
		w = wrong{ExecutedWithoutApproval, "it starts a call that nobody asked for"}
	case seenFromOutside(c, e):
	default:
		w = wrongStart(r, c, e)
	}
	if w != (wrong{}) {
		d.broken(r, e.CallKey, w)
		return nil
	}
	if seenFromOutside(c, e) {
		d.doubts(r, foundUnenforced)
		return nil
	}
	return d.rejudge(ctx, r, c, e, source)
}

// rejudge holds a start, whose call it names or is of, against the policy that
// the log recorded for it.
func (d *delta) rejudge(ctx context.Context, r folded, c *fold.Call, e *events.ToolStarted, source Source) error {
	effect, known, err := d.book.policies.rejudge(ctx, source, c)
	if err != nil {
		return err
	}
	switch w := overruled(e.Warrant.Kind, effect); {
	case w != wrong{}:
		d.broken(r, e.CallKey, w)
	case !known:
		d.doubts(r, foundUnverified)
	case !r.outcome.Counts: // it lost a race, and ran nothing
	case c.Enforcement != events.Enforced:
		d.doubts(r, foundUnenforced)
	default:
		d.add(famStarts, labels{foundGood}, tally{n: 1})
	}
	return nil
}

// broken notes a start that breaks a promise.
func (d *delta) broken(r folded, key events.CallKey, w wrong) {
	if r.outcome.Counts {
		d.add(famStarts, labels{foundViolation}, tally{n: 1})
	}
	d.find(r, key, w)
}

// weakened says what is wrong with a start that claims less than its call: one
// that our executor was to run is not one that was seen from outside.
func weakened(c *fold.Call, e *events.ToolStarted) wrong {
	was, is := strength(c.Enforcement), strength(e.Enforcement)
	if is >= was {
		return wrong{}
	}
	return wrong{NotEnforced, "it says " + string(e.Enforcement) + " of a call that was recorded as " + string(c.Enforcement)}
}

// strength orders whose word a record takes for what ran.
func strength(e events.Enforcement) int {
	switch e {
	case events.Enforced:
		return 2
	case events.Cooperative:
		return 1
	case events.Observed:
	}
	return 0
}

// seenFromOutside reports whether call and start both say that nobody asked the
// gate before.
func seenFromOutside(c *fold.Call, e *events.ToolStarted) bool {
	return c.Enforcement == events.Observed && e.Enforcement == events.Observed
}

// overruled says what is wrong with a start where the recorded policy, asked
// again, says other than the record. A deny is beaten by nothing.
func overruled(warrant events.WarrantKind, effect events.Effect) wrong {
	switch {
	case effect == events.EffectDeny:
		return wrong{ExecutedWithoutApproval, "the recorded policy denies this call"}
	case effect == events.EffectAsk && warrant == events.WarrantRule:
		return wrong{ExecutedWithoutApproval, "the record says that the policy let it run; the recorded policy asks"}
	}
	return wrong{}
}

// wrongStart says what is wrong with a start that the fold does not count: that
// nothing ever permitted it, or that it came when that was long over.
func wrongStart(r folded, c *fold.Call, e *events.ToolStarted) wrong {
	w := weakened(c, e)
	if w == (wrong{}) {
		w = unwarranted(r.session, c, e)
	}
	if w == (wrong{}) {
		w = r.traces.tooLate(r, c, e)
	}
	return w
}

// unwarranted says what is wrong with a start whose warrant never stood, or not
// for what it starts.
func unwarranted(s *fold.Session, c *fold.Call, e *events.ToolStarted) wrong {
	switch {
	case c.Effect == events.EffectDeny:
		return wrong{ExecutedWithoutApproval, "it starts a call that was denied"}
	case e.Tool != c.Tool:
		return wrong{DigestChanged, "it starts another tool than was asked for"}
	case bypassed(s, c, e):
		return changed(e, c.Digest, c.Arguments)
	case c.Effect == events.EffectAllow && !warrantedByRule(&c.ToolCall, e):
		return wrong{ExecutedWithoutApproval, "it names another warrant than the rule that lets the call run"}
	case c.Effect == events.EffectAllow:
		return changed(e, c.Digest, c.Arguments)
	case c.Request == nil:
		return wrong{ExecutedWithoutApproval, "it starts a call that must ask, and nobody was asked"}
	}
	return unwarrantedBy(c.Request, e)
}

// unwarrantedBy judges a start by the request of its call.
func unwarrantedBy(q *fold.Request, e *events.ToolStarted) wrong {
	switch {
	case q.State == fold.Pending:
		return wrong{ExecutedWithoutApproval, "it starts a call that waits for approval"}
	case q.State != fold.Approved:
		return wrong{ExecutedAfterDecline, "it starts a call whose request ended without an approval"}
	case e.Warrant.Kind != events.WarrantDecision || e.Warrant.Decision != q.End.EventID:
		return wrong{ExecutedWithoutApproval, "it names another warrant than the approval"}
	}
	return changed(e, q.Digest, q.Arguments)
}

// changed says whether a start is about other text than what may run.
func changed(e *events.ToolStarted, digest events.Digest, arguments *events.Ref) wrong {
	a, b := e.Arguments, arguments
	if e.RequestDigest != digest || a == nil || b == nil || a.Commitment != b.Commitment || a.Bytes != b.Bytes {
		return wrong{DigestChanged, "it starts the call with other arguments than those that may run"}
	}
	return wrong{}
}

// bypassed reports whether a start names the bypass of its own run, which may
// have ended meanwhile.
func bypassed(s *fold.Session, c *fold.Call, e *events.ToolStarted) bool {
	if e.Warrant.Kind != events.WarrantBypass || e.Warrant.ID != c.RunID {
		return false
	}
	run := runOf(s, c.RunID)
	return run != nil && run.Bypass != nil
}

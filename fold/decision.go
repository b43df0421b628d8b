package fold

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// decision judges a decision at its place. An approve adds a vote and, with
// the last one that the quorum needs, ends the request; a decline ends it; a
// modification waits for its revision.
func (s *Session) decision(r Record, e *events.Decision) Outcome {
	q, reason := s.pending(e.RequestID)
	switch {
	case reason != "":
		return not(reason)
	case e.RequestDigest != q.Digest:
		return not(ReasonOtherDigest)
	}
	if reason = q.allows(r, e); reason != "" {
		return not(reason)
	}
	v := Vote{Decision: *e, EventID: r.Envelope.ID, At: r.Position}
	switch e.Verdict {
	case events.VerdictDecline:
		q.State, q.End = Declined, &v
	case events.VerdictModify:
		q.Modifications = append(q.Modifications, v)
	case events.VerdictApprove:
		if reason := q.refuses(v); reason != "" {
			return not(reason)
		}
		q.add(v)
	}
	q.Decided = append(q.Decided, v)
	return counts()
}

// pending returns the request of an id while it is pending, and why not where
// it is not.
func (s *Session) pending(id string) (*Request, Reason) {
	q := s.Requests[id]
	switch {
	case q == nil:
		return nil, ReasonUnknownRequest
	case q.State != Pending:
		return nil, ReasonNotPending
	}
	return q, ""
}

// allows says whether the cause of a decision lets it count here, as a reason
// that is "" where it does.
func (q *Request) allows(r Record, e *events.Decision) Reason {
	late := r.time().After(q.Deadline)
	switch e.Cause {
	case events.CauseHuman:
		if late {
			return ReasonTooLate
		}
		return q.MayDecide(e.Actor)
	case events.CauseHandler:
		if late {
			return ReasonTooLate
		}
		if !q.Handlers {
			return ReasonNotPermitted
		}
		return ""
	case events.CauseTimeout:
		if !late {
			return ReasonTooEarly
		}
		return declineOnly(e)
	case events.CauseCancelled, events.CauseSuperseded, events.CauseGateError:
		return declineOnly(e)
	case events.CausePolicy, events.CauseStandingRule, events.CauseBypass, events.CauseStale, events.CauseExecutorLost,
		events.CauseDeliveryFailed:
		return ReasonNotPermitted
	}
	return ReasonNotPermitted
}

// declineOnly keeps what the gate itself minted from ever approving.
func declineOnly(e *events.Decision) Reason {
	if e.Verdict != events.VerdictDecline {
		return ReasonNotPermitted
	}
	return ""
}

// refuses says why an approval does not add a vote for the current text, or
// "". Where four eyes are asked for, who wrote the text does not approve it.
func (q *Request) refuses(v Vote) Reason {
	switch {
	case !same(v.Arguments, q.Arguments):
		return ReasonOtherDigest
	case v.Actor == nil:
		return ReasonNotPermitted
	case q.FourEyes && v.Actor.Person == q.Author:
		return ReasonNotPermitted
	case slices.ContainsFunc(q.Votes, func(o Vote) bool { return o.Actor.Person == v.Actor.Person }):
		return ReasonVoted
	}
	return ""
}

func (q *Request) add(v Vote) {
	q.Votes = append(q.Votes, v)
	if len(q.Votes) >= q.Quorum {
		q.State, q.End = Approved, &v
	}
}

// revision judges what a modification became. Where it asks, its text and the
// stricter of both terms hold from here, votes start again, and it holds its
// author's approval unless four eyes are asked for.
func (s *Session) revision(r Record, e *events.Revision) Outcome {
	q, reason := s.pending(e.RequestID)
	switch {
	case reason != "":
		return not(reason)
	case e.Number != q.Revision+1:
		return not(ReasonOutOfOrder)
	}
	i := slices.IndexFunc(q.Modifications, func(v Vote) bool { return v.EventID == r.Envelope.CausationID })
	if i < 0 {
		return not(ReasonUnknownRequest)
	}
	m := q.Modifications[i]
	if !same(m.Arguments, e.Arguments) || m.Actor == nil || m.Actor.Person != e.By {
		return not(ReasonOtherDigest)
	}
	q.Revision = e.Number
	q.Revisions = append(q.Revisions, Revision{Revision: *e, Modification: m.EventID, EventID: r.Envelope.ID, At: r.Position})
	if e.Outcome == events.RevisionRefused {
		q.Modifications = slices.Concat(q.Modifications[:i], q.Modifications[i+1:]) // a copy: readers hold the old one
		return counts()
	}
	q.revise(r, e, m)
	return counts()
}

func (q *Request) revise(r Record, e *events.Revision, m Vote) {
	q.Carrier, q.Digest, q.Arguments, q.Target, q.Preview = r.Envelope.ID, r.Digest, e.Arguments, e.Target, e.Preview
	q.Revised, q.Author, q.Modifications, q.Votes = m.EventID, e.By, nil, nil
	if !slices.Equal(q.Approvers, e.Approvers) {
		q.Also = append(q.Also, q.Approvers)
	}
	q.Terms = stricter(q.Terms, e.Terms)
	if d := r.time().Add(time.Duration(e.Timeout)); d.Before(q.Deadline) {
		q.Deadline = d
	}
	if !q.FourEyes && q.MayDecide(m.Actor) == "" {
		q.add(m)
	}
}

// stricter joins the terms of a request with those of its revision: the rule
// named is the revision's.
func stricter(was, now events.Terms) events.Terms {
	now.Quorum = max(was.Quorum, now.Quorum)
	now.FourEyes = was.FourEyes || now.FourEyes
	now.Handlers = was.Handlers && now.Handlers
	now.Timeout = min(was.Timeout, now.Timeout)
	now.StartWithin = min(was.StartWithin, now.StartWithin)
	return now
}

// revocation takes an approval back while nothing has started.
func (s *Session) revocation(_ Record, e *events.Revocation) Outcome {
	q := s.Requests[e.RequestID]
	switch {
	case q == nil:
		return not(ReasonUnknownRequest)
	case q.State != Approved || q.End == nil || q.End.EventID != e.Decision || q.Revoked:
		return not(ReasonNotPending)
	case s.Calls[q.CallKey].Start != nil || s.Calls[q.CallKey].Result != nil:
		return not(ReasonStarted)
	case q.MayDecide(&e.Actor) != "":
		return not(ReasonNotPermitted)
	}
	q.Revoked = true
	return counts()
}

package fold

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// RequestState is where a request stands.
type RequestState string

// The states of a request. All but the first are ends.
const (
	Pending  RequestState = "pending"
	Approved RequestState = "approved"
	Declined RequestState = "declined" // by whatever cause: see Request.End
	Closed   RequestState = "closed"   // its call got a result without a decision
)

// Request is an approval request under its current text and terms.
type Request struct {
	events.ApprovalRequest // as first asked; Arguments and Terms are the current ones
	EventID                string
	At                     events.Position
	Carrier                string        // id of the event that holds the current text: the request, or its current revision
	Digest                 events.Digest // what decisions must name: of that event
	Deadline               time.Time     // in log time; a decision at it still counts
	Revision               int           // the number of the current revision; 0 is the request itself
	Also                   [][]string    // approver lists of earlier terms, all of which hold too
	State                  RequestState
	Votes                  []Vote // approvals of the current text, one a person
	// End is the decision that ended the request: the one that completed the
	// approval, or the decline. nil while pending, and where it was closed.
	End *Vote
	// Modifications are those that counted and wait for their revision, in log
	// order.
	Modifications []Vote
	// Revised is the id of the modification whose text is the current one, and
	// Author who wrote it; "" where it is the model's own.
	Revised string
	Author  string
	Revoked bool
	// Decided are all decisions that counted, Revisions all revisions that did,
	// in log order: what became of each is never forgotten.
	Decided   []Vote
	Revisions []Revision
}

// Revision is a revision that counts.
type Revision struct {
	events.Revision

	Modification string // the id of the decision that it answers
	EventID      string
	At           events.Position
}

// Vote is a decision that counts.
type Vote struct {
	events.Decision
	EventID string
	At      events.Position
}

// Needed returns how many more people must approve.
func (q *Request) Needed() int {
	if q.State != Pending {
		return 0
	}
	return max(0, q.Quorum-len(q.Votes))
}

// StartBy returns the log time after which an approval has lapsed; zero where
// no decision ended the request.
func (q *Request) StartBy() time.Time {
	if q.End == nil {
		return time.Time{}
	}
	return time.UnixMicro(q.End.At.LogTime).Add(time.Duration(q.StartWithin))
}

func (s *Session) request(r Record, e *events.ApprovalRequest) Outcome {
	call := s.Calls[e.CallKey]
	switch {
	case call == nil:
		return not(ReasonUnknownCall)
	case s.Requests[e.RequestID] != nil || call.Request != nil:
		return not(ReasonRepeated)
	case call.Result != nil || call.Start != nil:
		return not(ReasonEnded)
	case call.Effect != events.EffectAsk:
		return not(ReasonNotPermitted)
	case e.Tool != call.Tool || e.Requester != call.Principal || !same(e.Arguments, call.Arguments):
		return not(ReasonOtherDigest)
	}
	q := &Request{
		ApprovalRequest: *e, EventID: r.Envelope.ID, At: r.Position, Carrier: r.Envelope.ID, Digest: r.Digest,
		Deadline: r.time().Add(time.Duration(e.Timeout)), State: Pending,
	}
	s.Requests[e.RequestID] = q
	call.Request = q
	return counts()
}

// same reports whether two references mean the same byte string.
func same(a, b *events.Ref) bool {
	return a != nil && b != nil && a.Commitment == b.Commitment && a.Bytes == b.Bytes
}

// MayDecide says whether an actor may decide a request under its terms, as a
// reason that is "" where it may.
func (q *Request) MayDecide(a *events.Actor) Reason {
	switch {
	case a == nil || !mayReview(a):
		return ReasonNotPermitted
	case q.FourEyes && a.Person == q.Requester:
		return ReasonNotPermitted
	case !named(q.Approvers, a):
		return ReasonNotPermitted
	}
	for _, approvers := range q.Also {
		if !named(approvers, a) {
			return ReasonNotPermitted
		}
	}
	return ""
}

// The roles that decide.
const (
	roleReviewer = "reviewer"
	roleAdmin    = "admin"
)

func mayReview(a *events.Actor) bool {
	return slices.Contains(a.Roles, roleReviewer) || slices.Contains(a.Roles, roleAdmin)
}

// named reports whether a list of approvers names an actor; an empty list
// names every reviewer.
func named(approvers []string, a *events.Actor) bool {
	if len(approvers) == 0 {
		return true
	}
	for _, group := range a.Groups {
		if slices.Contains(approvers, "group:"+group) {
			return true
		}
	}
	return slices.Contains(approvers, "person:"+a.Person)
}

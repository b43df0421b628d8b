package gate

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Revocation is what takes an approval back while its call has not started. Who
// may decide the request may do so.
type Revocation struct {
	RequestID string
	Comment   string
	// Actor is the authenticated person, with the name to record for the id.
	Actor     *events.Actor
	ActorName string
	Via       string // "console", ...
}

// Revoke takes an approval back and answers what the fold made of it: accepted,
// then the call does not run and ends as cancelled; or why not. Whether it came
// before the start is the log's to say. Errors are those of Decide.
func (g *Gate) Revoke(ctx context.Context, r Revocation) (Answer, error) {
	id, err := g.sessionOf(ctx, r.RequestID)
	if err != nil {
		return Answer{}, err
	}
	if id == "" {
		return g.notRevoked(ctx, "", r, noRequest)
	}
	s, unpin, err := g.pin(ctx, id)
	if err != nil {
		return Answer{}, err
	}
	defer unpin()
	drafts, why := g.revocationDrafts(s, r)
	if why != "" {
		return g.notRevoked(ctx, id, r, why)
	}
	outcomes, err := g.append(ctx, id, drafts...)
	event := drafts[len(drafts)-1].ID
	switch {
	case errors.Is(err, ErrNotBack), errors.Is(err, ErrNotTaken):
		return Answer{EventID: event}, err
	case err != nil:
		g.forgetName(r.Actor.Person)
		return Answer{}, err
	}
	if o := outcomes[len(outcomes)-1]; !o.Counts {
		return Answer{Reason: g.whyStands(s, r), EventID: event}, nil
	}
	return Answer{Accepted: true, EventID: event}, nil
}

const noRequest = "there is no such request"

// notRevoked records an attempt that appended no revocation.
func (g *Gate) notRevoked(ctx context.Context, session string, r Revocation, why string) (Answer, error) {
	return g.refusedTo(ctx, "revoke", session, r.RequestID, r.Actor, r.Via, why)
}

// revocationDrafts drafts a revocation, or says why it cannot count.
func (g *Gate) revocationDrafts(s *session, r Revocation) ([]events.Draft, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := s.Requests[r.RequestID]
	if q == nil {
		return nil, noRequest
	}
	if why := g.stands(s.Session, q, r.Actor); why != "" {
		return nil, why
	}
	d := &events.Revocation{RequestID: q.RequestID, Decision: q.End.EventID, Actor: *r.Actor}
	draft := events.Draft{ID: events.NewID(), Session: s.ID, Data: d, Causation: q.End.EventID}
	if r.Comment != "" {
		p := events.NewPayload([]byte(r.Comment))
		d.Comment = p.Ref(events.MediaText)
		draft.Payloads = append(draft.Payloads, p)
	}
	return append(g.personDraft(r.Actor.Person, r.ActorName), draft), ""
}

// stands says why an approval cannot be taken back by somebody, or "". mu is held.
func (g *Gate) stands(s *fold.Session, q *fold.Request, who *events.Actor) string {
	c := s.Calls[q.CallKey]
	switch {
	case q.State == fold.Pending:
		return "the request is not decided yet: decline it instead"
	case q.State != fold.Approved:
		return g.ended(s, q)
	case q.Revoked:
		return "the approval was taken back already"
	case c.Start != nil:
		return "the call started at " + clock(time.UnixMicro(c.Start.At.LogTime)) + ": what has started is not taken back"
	case c.Result != nil:
		return "the call has ended without a start, so there is nothing to take back"
	case q.MayDecide(who) != "":
		return notPermitted(q, who)
	}
	return ""
}

// whyStands is stands after a revocation that the fold did not count.
func (g *Gate) whyStands(s *session, r Revocation) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if why := g.stands(s.Session, s.Requests[r.RequestID], r.Actor); why != "" {
		return why
	}
	return "it did not count"
}

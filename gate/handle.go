package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// HandlerRuling is what a program's approval handler says of a request. It is
// judged by the fold like a person's, under the cause "handler": it counts only
// where the recorded terms of the request admit handlers.
type HandlerRuling struct {
	RequestID string
	// RequestDigest names the text that the handler was asked about. Nothing
	// is appended where that is not the current one.
	RequestDigest events.Digest
	Handler       string // its name
	// Verdict, Arguments and Comment are as in Ruling. Any other verdict is no
	// answer.
	Verdict   events.Verdict
	Arguments []byte
	Comment   string
	// Failed says why the handler gave no answer; "" where it gave one.
	Failed string
}

// maxHandlerComment bounds a handler's comment, or what is told of its failure,
// in bytes.
const maxHandlerComment = 32 << 10

// HandlerActor is the id under which the decisions of a handler stand in the
// log. Whatever its name is, it is no person's.
func HandlerActor(name string) string { return "handler:" + name }

// Handle records what a handler says of a request, and answers as Decide does.
// No answer, or changed arguments that cannot run, decline the request: that is
// the gate's own decision, with the cause "gate_error" and no actor.
func (g *Gate) Handle(ctx context.Context, r HandlerRuling) (Answer, error) {
	id, err := g.sessionOf(ctx, r.RequestID)
	if err != nil {
		return Answer{}, err
	}
	s, unpin, err := g.pin(ctx, id)
	if err != nil {
		return Answer{}, err
	}
	defer unpin()
	ruling := g.handlerRuling(r)
	if why := g.unusable(ctx, s, r, ruling); why != "" {
		return g.giveUp(ctx, s, r, why)
	}
	if r.Verdict != events.VerdictModify {
		return g.Decide(ctx, ruling)
	}
	a, err := g.handlerModifies(ctx, s, ruling)
	if err != nil || !a.Accepted {
		return a, err
	}
	return g.confirm(ctx, s, ruling, a)
}

// handlerModifies records a modification once, however often it is tried.
func (g *Gate) handlerModifies(ctx context.Context, s *session, r Ruling) (Answer, error) {
	if id := g.modifiedBefore(s, r); id != "" {
		return g.modification(ctx, s, r, id)
	}
	return g.Decide(ctx, r)
}

// modifiedBefore returns the id of the modification of the same text by the
// same handler, or "".
func (g *Gate) modifiedBefore(s *session, r Ruling) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := s.Requests[r.RequestID]
	if q == nil {
		return ""
	}
	i := slices.IndexFunc(q.Decided, func(v fold.Vote) bool {
		return v.Verdict == events.VerdictModify && v.RequestDigest == r.RequestDigest && v.Actor.Person == r.Actor.Person
	})
	if i < 0 {
		return ""
	}
	return q.Decided[i].EventID
}

func (g *Gate) handlerRuling(r HandlerRuling) Ruling {
	return Ruling{
		RequestID: r.RequestID, RequestDigest: r.RequestDigest, Verdict: r.Verdict, Arguments: r.Arguments,
		Comment: clipTo(r.Comment, maxHandlerComment), Via: "handler", handler: true, ActorName: "the approval handler " + r.Handler,
		Actor: &events.Actor{
			Person: HandlerActor(r.Handler), Credential: "handler", Roles: []string{}, Groups: []string{}, Method: "handler", At: events.At(g.now()),
		},
	}
}

// unusable says why what a handler said is no decision, or "".
func (g *Gate) unusable(ctx context.Context, s *session, r HandlerRuling, ruling Ruling) string {
	if r.Failed != "" {
		return r.Failed
	}
	switch r.Verdict {
	case events.VerdictApprove, events.VerdictDecline:
		return ""
	case events.VerdictModify:
		return g.check(ctx, s, ruling).unfit
	}
	return fmt.Sprintf("the verdict %.40q is not known", string(r.Verdict))
}

// giveUp declines a request that is still pending under the text that the
// handler was asked about.
func (g *Gate) giveUp(ctx context.Context, s *session, r HandlerRuling, why string) (Answer, error) {
	draft, reason := g.giveUpDraft(s, r, why)
	if reason != "" {
		return Answer{Reason: reason}, nil
	}
	outcomes, err := g.append(ctx, s.ID, draft)
	if err != nil {
		return Answer{EventID: draft.ID}, err
	}
	if o := outcomes[0]; !o.Counts {
		return Answer{Reason: "the request was decided first (" + string(o.Reason) + ")", EventID: draft.ID}, nil
	}
	return Answer{Accepted: true, EventID: draft.ID}, nil
}

func (g *Gate) giveUpDraft(s *session, r HandlerRuling, why string) (events.Draft, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := s.Requests[r.RequestID]
	switch {
	case q == nil:
		return events.Draft{}, "there is no such request"
	case q.State != fold.Pending:
		return events.Draft{}, g.ended(s.Session, q)
	case q.Digest != r.RequestDigest:
		return events.Draft{}, "the request has other arguments now than the ones that the handler saw"
	}
	d := &events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: events.VerdictDecline, Cause: events.CauseGateError,
		Arguments: carried(q), Via: "gate",
	}
	p := events.NewPayload([]byte(clipTo(fmt.Sprintf("The approval handler %q gave no usable answer: %s.", r.Handler, why), maxHandlerComment)))
	d.Comment = p.Ref(events.MediaText)
	return events.Draft{ID: events.NewID(), Session: s.ID, Data: d, Payloads: []events.Payload{p}, Causation: q.EventID}, ""
}

// confirm approves the revision that a handler's modification became. A
// revision holds its author's approval only where that is a reviewer; a
// handler has no roles, so it says so itself. A crash in between leaves the
// request pending, and the handler is asked about its own text.
func (g *Gate) confirm(ctx context.Context, s *session, r Ruling, modified Answer) (Answer, error) {
	g.mu.Lock()
	q := s.Requests[r.RequestID]
	current, digest := q.State == fold.Pending && q.Revised == modified.EventID, q.Digest
	g.mu.Unlock()
	if !current {
		return modified, nil
	}
	r.Verdict, r.Arguments, r.Comment, r.RequestDigest = events.VerdictApprove, nil, "", digest
	return g.Decide(ctx, r)
}

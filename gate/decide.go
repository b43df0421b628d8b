package gate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Ruling is what a person says of a request.
type Ruling struct {
	RequestID string
	Verdict   events.Verdict
	// Arguments are the changed ones, with VerdictModify alone.
	Arguments []byte
	Comment   string
	// Actor is the authenticated person, with the name to record for the id.
	Actor     *events.Actor
	ActorName string
	Via       string // "console", "chat-api"
	// RequestDigest is what the page showed, ArgumentsDigest the lower-case hex
	// SHA-256 of the arguments that the client saw; "" where not said. Where
	// one is said and is not current, nothing is appended.
	RequestDigest   events.Digest
	ArgumentsDigest events.Digest
	Seen            *events.Seen
	// IdempotencyKey makes a retry get the first's answer; "" for none.
	IdempotencyKey string
	// Bulk is what rulings share that a person sent at once; "" for none. It is
	// recorded, and changes nothing: each ruling is judged by itself.
	Bulk string

	handler bool // a program's approval handler says it, not a person
}

func (r Ruling) cause() events.Cause {
	if r.handler {
		return events.CauseHandler
	}
	return events.CauseHuman
}

// may reports whether the terms of a request admit who rules.
func (r Ruling) may(q *fold.Request) bool {
	if r.handler {
		return q.Handlers
	}
	return q.MayDecide(r.Actor) == ""
}

// Answer is what became of a ruling, told after the log has judged it.
type Answer struct {
	Accepted bool
	Reason   string // why not, in words for people
	Class    Class  // why not, for counting
	Needed   int    // how many more people must approve
	EventID  string // of the decision, where one was appended
}

// Decide records a ruling and answers what the fold made of it: accepted, or
// why not. What the gate knows cannot count is not appended; the attempt is
// recorded as access. ErrNotTaken where the log found no room in time, ErrNotBack
// where the fold has not judged in time, both with the decision's id.
func (g *Gate) Decide(ctx context.Context, r Ruling) (Answer, error) {
	a, err := g.decide(ctx, r)
	if err == nil && !a.Accepted && a.Class == "" {
		a.Class = g.classOf(ctx, r)
	}
	return a, err
}

// decide is Decide but for the class, of which it says ClassMismatch alone: how
// the request stands afterwards does not show that.
func (g *Gate) decide(ctx context.Context, r Ruling) (Answer, error) {
	id, err := g.sessionOf(ctx, r.RequestID)
	if err != nil {
		return Answer{}, err
	}
	if id == "" {
		return g.refused(ctx, "", r, noRequest)
	}
	s, unpin, err := g.pin(ctx, id)
	if err != nil {
		return Answer{}, err
	}
	defer unpin()
	p := g.prepare(ctx, s, r)
	switch {
	case p.first != nil:
		return g.again(ctx, s, r, *p.first)
	case p.why != "":
		a, err := g.refused(ctx, id, r, p.why)
		a.Class = p.class
		return a, err
	}
	outcomes, err := g.append(ctx, id, p.drafts...)
	switch {
	case errors.Is(err, ErrNotBack), errors.Is(err, ErrNotTaken):
		return Answer{EventID: p.decision}, err
	case err != nil:
		g.forgetName(r.Actor.Person)
		return Answer{}, err
	}
	return g.answerFor(ctx, s, r, p.decision, outcomes[len(outcomes)-1])
}

// refused records an attempt that appended no decision. That the record of the
// attempt could not be kept changes nothing for who asked.
func (g *Gate) refused(ctx context.Context, session string, r Ruling, reason string) (Answer, error) {
	return g.refusedTo(ctx, "decide", session, r.RequestID, r.Actor, r.Via, reason)
}

func (g *Gate) refusedTo(ctx context.Context, action, session, request string, who *events.Actor, via, reason string) (Answer, error) {
	_, err := g.log.Append(ctx, events.Draft{Session: session, Data: &events.Access{
		Action: action, Outcome: events.AccessRefused, Actor: who, Resource: clip(request), Reason: clip(reason), Via: via,
	}})
	if err != nil {
		g.logger.WarnContext(ctx, "a refused decision could not be recorded", "action", action, "error", err)
	}
	return Answer{Reason: reason}, nil
}

// prepared is what follows from a ruling: an earlier decision that it repeats,
// why it cannot count, or the drafts of a decision.
type prepared struct {
	first    *fold.Vote
	why      string
	class    Class // of why, where it is ClassMismatch
	drafts   []events.Draft
	decision string // the id of the last draft
}

// prepare drafts a decision, or finds out at once what can be known.
func (g *Gate) prepare(ctx context.Context, s *session, r Ruling) prepared {
	checked := g.check(ctx, s, r)
	g.mu.Lock()
	defer g.mu.Unlock()
	q := s.Requests[r.RequestID]
	if q == nil {
		return prepared{why: noRequest}
	}
	if first := repeated(q, r); first != nil {
		if first.Idempotency != idempotency(r) {
			return prepared{why: keyUsed}
		}
		return prepared{first: first}
	}
	if why, class := g.cannot(s.Session, q, r, checked); why != "" {
		return prepared{why: why, class: class}
	}
	drafts, id := g.decisionDrafts(s.ID, q, r)
	return prepared{drafts: drafts, decision: id}
}

// checked is what was found out of a ruling without holding the gate's lock.
type checked struct {
	text   *events.Ref   // the current arguments then
	digest events.Digest // of that text, as clients see it; "" where not asked for
	unread error         // why that text could not be read
	unfit  string        // why changed arguments cannot be what runs, or ""
}

func (g *Gate) check(ctx context.Context, s *session, r Ruling) (c checked) {
	g.mu.Lock()
	var carrier, tool string
	q := s.Requests[r.RequestID]
	if q != nil {
		carrier, c.text, tool = q.Carrier, q.Arguments, q.Tool
	}
	g.mu.Unlock()
	if q == nil {
		return c
	}
	if r.ArgumentsDigest != "" {
		c.digest, c.unread = g.digestOf(ctx, carrier, c.text)
	}
	if r.Verdict == events.VerdictModify {
		if j := g.judge(tool, r.Arguments); j.effect == events.EffectDeny {
			c.unfit = cannotRun(j.why)
		}
	}
	return c
}

// digestOf reads arguments and hashes them as clients see them.
func (g *Gate) digestOf(ctx context.Context, carrier string, ref *events.Ref) (events.Digest, error) {
	text, err := g.log.Payload(ctx, carrier, ref)
	if err != nil {
		return "", err
	}
	args, err := events.DecodeArguments(text)
	if err != nil {
		return "", err
	}
	return events.DigestOf(args.Text), nil
}

// cannot says why a ruling cannot count now, or "", and whether that is of
// ClassMismatch. Whether it is too late is the log's to say: its clock may differ
// from ours.
func (g *Gate) cannot(s *fold.Session, q *fold.Request, r Ruling, c checked) (why string, class Class) {
	switch {
	case q.State != fold.Pending:
		return g.ended(s, q), ""
	case !r.may(q):
		return notPermitted(q, r.Actor), ""
	case r.ArgumentsDigest != "" && c.unread != nil:
		return "its arguments cannot be read now, so they could not be compared", ""
	case r.RequestDigest != "" && r.RequestDigest != q.Digest,
		r.ArgumentsDigest != "" && (r.ArgumentsDigest != c.digest || c.text != q.Arguments):
		return "the request has other arguments now than the ones that you saw; look at it again", ClassMismatch
	}
	if o := g.objects(s.Calls[q.CallKey]); o.cause != "" && r.Verdict != events.VerdictDecline {
		return "it cannot run any more: " + o.why, ""
	}
	return c.unfit, ""
}

// decisionDrafts drafts the person behind the actor, where the log does not
// have the name yet, and the decision.
func (g *Gate) decisionDrafts(session string, q *fold.Request, r Ruling) ([]events.Draft, string) {
	d := &events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: r.Verdict, Cause: r.cause(),
		Arguments: carried(q), Actor: r.Actor, Via: r.Via, Seen: r.Seen, Idempotency: idempotency(r), Bulk: r.Bulk,
	}
	draft := events.Draft{ID: events.NewID(), Session: session, Data: d, Causation: q.EventID}
	if r.Verdict == events.VerdictModify {
		p := events.NewPayload(r.Arguments)
		d.Arguments = p.Ref(events.MediaJSON)
		draft.Payloads = append(draft.Payloads, p)
	}
	if r.Comment != "" {
		p := events.NewPayload([]byte(r.Comment))
		d.Comment = p.Ref(events.MediaText)
		draft.Payloads = append(draft.Payloads, p)
	}
	drafts := g.personDraft(r.Actor.Person, r.ActorName)
	return append(drafts, draft), draft.ID
}

// idempotency is the recorded form of a key: "KEY/RULING", both lower-case hex
// SHA-256. KEY binds the key to its person, so that nobody gets another's
// answer; RULING binds it to what was said, so that a key that is used again
// for something else is told so.
func idempotency(r Ruling) string {
	if r.IdempotencyKey == "" || r.Actor == nil {
		return ""
	}
	return keyOf(r) + "/" + hashOf("countersign/idempotency/ruling/1", string(r.Verdict), string(r.Arguments), r.Comment)
}

func keyOf(r Ruling) string {
	return hashOf("countersign/idempotency/key/1", r.Actor.Person, r.IdempotencyKey)
}

// hashOf hashes texts, each with its length, so that no two lists look alike.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(t))))
		h.Write([]byte(t))
	}
	return hex.EncodeToString(h.Sum(nil))
}

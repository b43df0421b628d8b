package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

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
}

// Answer is what became of a ruling, told after the log has judged it.
type Answer struct {
	Accepted bool
	Reason   string // why not, in words for people
	Needed   int    // how many more people must approve
	EventID  string // of the decision, where one was appended
}

// Decide records a ruling and answers what the fold made of it: accepted, or
// why not. What the gate knows cannot count is not appended; the attempt is
// recorded as access. ErrNotBack where the fold has not judged in time.
func (g *Gate) Decide(ctx context.Context, r Ruling) (Answer, error) {
	id, err := g.sessionOf(ctx, r.RequestID)
	if err != nil {
		return Answer{}, err
	}
	if id == "" {
		return g.refused(ctx, "", r, "there is no such request")
	}
	s, unpin, err := g.pin(ctx, id)
	if err != nil {
		return Answer{}, err
	}
	defer unpin()
	drafts, decision, answer := g.prepare(ctx, s, r)
	if answer != nil {
		if answer.Accepted {
			return *answer, nil
		}
		return g.refused(ctx, id, r, answer.Reason)
	}
	outcomes, err := g.append(ctx, id, drafts...)
	if err != nil {
		return Answer{EventID: decision}, err
	}
	return g.answerFor(ctx, s, r, decision, outcomes[len(outcomes)-1])
}

// refused records an attempt that appended no decision. That the record of the
// attempt could not be kept changes nothing for who asked.
func (g *Gate) refused(ctx context.Context, session string, r Ruling, reason string) (Answer, error) {
	_, err := g.log.Append(ctx, events.Draft{Session: session, Data: &events.Access{
		Action: "decide", Outcome: events.AccessRefused, Actor: r.Actor, Resource: clip(r.RequestID), Reason: clip(reason), Via: r.Via,
	}})
	if err != nil {
		g.logger.WarnContext(ctx, "a refused decision could not be recorded", "error", err)
	}
	return Answer{Reason: reason}, nil
}

// prepare drafts a decision, or answers at once where that can be known.
func (g *Gate) prepare(ctx context.Context, s *session, r Ruling) ([]events.Draft, string, *Answer) {
	if r.Verdict == events.VerdictModify {
		if why := g.unfit(s, r); why != "" {
			return nil, "", &Answer{Reason: why}
		}
	}
	var shown events.Digest
	if r.ArgumentsDigest != "" {
		var err error
		if shown, err = g.textOf(ctx, s, r.RequestID); err != nil {
			return nil, "", &Answer{Reason: "its arguments cannot be read now, so they could not be compared"}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	q := s.Requests[r.RequestID]
	if q == nil {
		return nil, "", &Answer{Reason: "there is no such request"}
	}
	if first := repeated(q, r); first != nil {
		return nil, "", first
	}
	if why := g.cannot(q, r, shown); why != "" {
		return nil, "", &Answer{Reason: why}
	}
	drafts, id := g.decisionDrafts(s.ID, q, r)
	return drafts, id, nil
}

// textOf reads the current arguments of a request, where the ruling wants them
// compared.
func (g *Gate) textOf(ctx context.Context, s *session, request string) (events.Digest, error) {
	g.mu.Lock()
	q := s.Requests[request]
	var carrier string
	var ref *events.Ref
	if q != nil {
		carrier, ref = q.Carrier, q.Arguments
	}
	g.mu.Unlock()
	if ref == nil {
		return "", nil
	}
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

// cannot says why a ruling cannot count now, or "".
func (g *Gate) cannot(q *fold.Request, r Ruling, shown events.Digest) string {
	switch {
	case q.State != fold.Pending:
		return g.ended(q)
	case q.MayDecide(r.Actor) != "":
		return notPermitted(q, r.Actor)
	case g.now().After(q.Deadline):
		return "its time is over: nobody answered before " + clock(q.Deadline)
	case r.RequestDigest != "" && r.RequestDigest != q.Digest, r.ArgumentsDigest != "" && r.ArgumentsDigest != shown:
		return "the request has other arguments now than the ones that you saw; look at it again"
	}
	return ""
}

func notPermitted(q *fold.Request, a *events.Actor) string {
	if a != nil && q.FourEyes && a.Person == q.Requester {
		return "rule " + q.Rule + " asks for four eyes: who asked may not decide"
	}
	return fmt.Sprintf("rule %s does not let you decide this request", q.Rule)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// ended says what ended a request, by whom and when.
func (g *Gate) ended(q *fold.Request) string {
	if q.End == nil {
		return "the request is closed: its call has ended"
	}
	when := clock(time.UnixMicro(q.End.At.LogTime))
	switch {
	case q.End.Cause == events.CauseTimeout:
		return "the request expired at " + when + ": nobody answered in time"
	case q.End.Cause == events.CauseHuman && q.State == fold.Approved:
		return fmt.Sprintf("the request was approved by %s at %s", g.opt.Names(q.End.Actor.Person), when)
	case q.End.Cause == events.CauseHuman:
		return fmt.Sprintf("the request was declined by %s at %s", g.opt.Names(q.End.Actor.Person), when)
	case q.End.Cause == events.CauseSuperseded:
		return "the request was declined at " + when + " because a new query took its place"
	default:
		return fmt.Sprintf("the request was ended at %s (%s)", when, q.End.Cause)
	}
}

// unfit says why changed arguments cannot be what runs, or "".
func (g *Gate) unfit(s *session, r Ruling) string {
	g.mu.Lock()
	q := s.Requests[r.RequestID]
	g.mu.Unlock()
	if q == nil {
		return ""
	}
	j := g.judge(q.Tool, r.Arguments)
	if j.effect == events.EffectDeny {
		return "the changed arguments cannot run: " + j.why
	}
	return ""
}

// decisionDrafts drafts the person behind the actor, where the log does not
// have the name yet, and the decision.
func (g *Gate) decisionDrafts(session string, q *fold.Request, r Ruling) ([]events.Draft, string) {
	d := &events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: r.Verdict, Cause: events.CauseHuman,
		Arguments: carried(q), Actor: r.Actor, Via: r.Via, Seen: r.Seen, Idempotency: idempotency(r),
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

// idempotency is the recorded form of a key: bound to its person, so that
// nobody gets another's answer, and not the key itself.
func idempotency(r Ruling) string {
	if r.IdempotencyKey == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("countersign/idempotency/1\n" + r.Actor.Person + "\n" + r.IdempotencyKey))
	return hex.EncodeToString(sum[:])
}

// repeated answers a retry that carries the key of a decision that counted.
func repeated(q *fold.Request, r Ruling) *Answer {
	key := idempotency(r)
	if key == "" {
		return nil
	}
	for _, v := range votesOf(q) {
		if v.Idempotency != key {
			continue
		}
		if v.Verdict != r.Verdict {
			return &Answer{Reason: "the Idempotency-Key was used for another decision"}
		}
		return &Answer{Accepted: true, Needed: q.Needed(), EventID: v.EventID}
	}
	return nil
}

func votesOf(q *fold.Request) []fold.Vote {
	votes := append([]fold.Vote{}, q.Votes...)
	votes = append(votes, q.Modifications...)
	if q.End != nil {
		votes = append(votes, *q.End)
	}
	return votes
}

// answerFor tells what the fold made of a decision. A modification is answered
// after its revision, or the end of the request, has come back.
func (g *Gate) answerFor(ctx context.Context, s *session, r Ruling, decision string, o fold.Outcome) (Answer, error) {
	if o.Counts && r.Verdict == events.VerdictModify {
		return g.modification(ctx, s, r, decision)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	q := s.Requests[r.RequestID]
	if o.Counts {
		return Answer{Accepted: true, Needed: q.Needed(), EventID: decision}, nil
	}
	if first := repeated(q, r); first != nil {
		return *first, nil
	}
	return Answer{Reason: g.whyNot(q, r, o.Reason), EventID: decision}, nil
}

func (g *Gate) whyNot(q *fold.Request, r Ruling, reason fold.Reason) string {
	switch reason {
	case fold.ReasonNotPending:
		return g.ended(q)
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
		answer.Accepted, answer.Needed, answer.Reason = g.became(q, decision)
		return true
	})
	if errors.Is(err, ErrNotBack) || errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w within %v", ErrNotBack, g.opt.JudgedWithin)
	}
	return answer, err
}

// became says whether a modification's text is the one that holds.
func (g *Gate) became(q *fold.Request, decision string) (accepted bool, needed int, reason string) {
	if q.Revised == decision {
		return true, q.Needed(), ""
	}
	if q.State != fold.Pending {
		return false, 0, g.ended(q)
	}
	return false, 0, "the changed arguments were refused or changed again meanwhile; look at the request again"
}

package gate

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// modification names a modification that counted and waits for its revision.
type modification struct{ session, request, decision string }

// modified queues a modification for the goroutine that revises. mu is held.
func (g *Gate) modified(m modification) {
	g.modifications = append(g.modifications, m)
	select {
	case g.revise <- struct{}{}:
	default:
	}
}

func (g *Gate) takeModifications() []modification {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.modifications
	g.modifications = nil
	return m
}

// reviseAll judges modifications again and records what they became. What
// could not be recorded is tried again, while its request is pending.
func (g *Gate) reviseAll(ctx context.Context) error {
	var waiting []modification
	for {
		waiting = g.reviseEach(ctx, append(waiting, g.takeModifications()...))
		var again <-chan time.Time
		if len(waiting) > 0 {
			again = time.After(afterFailure)
		}
		select {
		case <-g.revise:
		case <-again:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reviseEach returns the modifications that must be tried again.
func (g *Gate) reviseEach(ctx context.Context, all []modification) (failed []modification) {
	for _, m := range all {
		err := g.reviseOne(ctx, m)
		if err == nil || errors.Is(err, ErrNotBack) || ctx.Err() != nil {
			continue
		}
		g.logger.WarnContext(ctx, "a modification could not be judged yet; it is tried again", "request", m.request, "error", err)
		failed = append(failed, m)
	}
	return failed
}

func (g *Gate) reviseOne(ctx context.Context, m modification) error {
	q, vote, ok, err := g.waiting(ctx, m)
	if err != nil || !ok {
		return err
	}
	d := events.Draft{Session: m.session, Causation: vote.EventID}
	if err := g.judgeAgain(ctx, &d, q, vote); err != nil {
		return err
	}
	_, err = g.append(ctx, m.session, d)
	return err
}

// judgeAgain judges the arguments of a modification, foresees anew what they
// would change, and drafts what that makes of it. Ones that were erased meanwhile
// cannot run.
func (g *Gate) judgeAgain(ctx context.Context, d *events.Draft, q fold.Request, vote fold.Vote) error {
	text, err := g.log.Payload(ctx, vote.EventID, vote.Arguments)
	if errors.Is(err, events.ErrNoPayload) {
		d.Data = g.revision(q, vote, refuse(g.tools[q.Tool], ruleArguments, "the changed arguments cannot be read any more"))
		return nil
	}
	if err != nil {
		return err
	}
	j := g.judge(q.Tool, text)
	if j.effect == events.EffectDeny || !g.changes(q.Tool) {
		d.Data = g.revision(q, vote, j)
		return nil
	}
	turn := g.before(ctx, d.Session, q.CallKey)
	seen, err := turn.foresee(ctx, j.tool, text)
	if err != nil {
		d.Data = g.revision(q, vote, unforeseen(j.tool, err))
		return ctx.Err()
	}
	e := g.revision(q, vote, j)
	var preview events.Payload
	preview, e.Preview = turn.preview(seen)
	e.Target, d.Data, d.Payloads = &seen.Target, e, []events.Payload{preview}
	return nil
}

// revision is what a modification became. The terms of the request stay unless
// the new arguments ask under others.
func (g *Gate) revision(q fold.Request, vote fold.Vote, j judgement) *events.Revision {
	e := &events.Revision{
		RequestID: q.RequestID, Number: q.Revision + 1, Arguments: vote.Arguments.CarriedBy(vote.EventID), By: vote.Actor.Person,
		Outcome: events.RevisionAsks, Terms: q.Terms,
	}
	switch j.effect {
	case events.EffectAsk:
		e.Terms = g.terms(j, q.Handlers)
		e.StartWithin = max(e.StartWithin, q.StartWithin) // its turn may have lengthened it
	case events.EffectDeny:
		e.Outcome, e.Why = events.RevisionRefused, clip(j.why)
	case events.EffectAllow: // the stricter holds: what asked once goes on asking
	}
	return e
}

// waiting returns a copy of the request and of the modification, while that
// waits for its revision.
func (g *Gate) waiting(ctx context.Context, m modification) (fold.Request, fold.Vote, bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, m.session)
	if err != nil {
		return fold.Request{}, fold.Vote{}, false, err
	}
	defer g.unload(s)
	q := s.Requests[m.request]
	if q == nil || q.State != fold.Pending {
		return fold.Request{}, fold.Vote{}, false, nil
	}
	for _, v := range q.Modifications {
		if v.EventID == m.decision {
			return *q, v, true, nil
		}
	}
	return fold.Request{}, fold.Vote{}, false, nil
}

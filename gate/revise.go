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
	j, err := g.judgeAgain(ctx, q.Tool, vote)
	if err != nil {
		return err
	}
	_, err = g.append(ctx, m.session, events.Draft{Session: m.session, Data: g.revision(q, vote, j), Causation: vote.EventID})
	return err
}

// judgeAgain judges the arguments of a modification. Ones that were erased
// meanwhile cannot run.
func (g *Gate) judgeAgain(ctx context.Context, tool string, vote fold.Vote) (judgement, error) {
	text, err := g.log.Payload(ctx, vote.EventID, vote.Arguments)
	switch {
	case errors.Is(err, events.ErrNoPayload):
		return refuse(g.tools[tool], ruleArguments, "the changed arguments cannot be read any more"), nil
	case err != nil:
		return judgement{}, err
	}
	return g.judge(tool, text), nil
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

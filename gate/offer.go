package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
)

// A policy can be changed while the gate runs. One that only tightens holds at
// once. One that loosens anything is held back until an administrator confirms
// exactly what they were shown: this policy in place of that one. Whoever can
// write the file can so take rights away, and not give any.

// Errors of Confirm.
var (
	// ErrNotHeld: no policy of that digest waits, or it was compared with another
	// than the one that holds now.
	ErrNotHeld = errors.New("that change of the policy does not wait any more; look at it again")
	// ErrNobody: a policy is confirmed by a person.
	ErrNobody = errors.New("a policy that loosens is confirmed by a person alone")
)

// Held is a policy that waits for an administrator.
type Held struct {
	Policy  *policy.Policy
	Instead *policy.Policy // the one that holds, with which it was compared
	Changes []policy.Change
	Since   time.Time
}

// Offered is what became of a policy that was offered.
type Offered struct {
	Outcome OfferOutcome
	Changes []policy.Change // from the policy that held
}

// OfferOutcome is what becomes of an offer.
type OfferOutcome string

// The outcomes.
const (
	OfferUnchanged OfferOutcome = "unchanged" // it holds already
	OfferApplied   OfferOutcome = "applied"   // it only tightens, and holds now
	OfferHeld      OfferOutcome = "held"      // it loosens, and waits
)

// offers is the policy that waits.
type offers struct {
	mu   sync.Mutex
	held *Held // mu
}

// actChange is the action of a change of policy in access events; its resource is
// "DIGEST..DIGEST", of the one that held and the other.
const actChange = "policy-change"

// Offer takes a policy in place of the one that holds. by is who offers it, nil
// where the machine's owner does; via names the way. A later offer takes the place
// of one that waits.
func (g *Gate) Offer(ctx context.Context, p *policy.Policy, by *events.Actor, via string) (Offered, error) {
	o, err := g.offer(ctx, p, by, via)
	if err == nil && o.Outcome == OfferApplied {
		g.rejudge(context.WithoutCancel(ctx)) // who asked may not wait for it
	}
	return o, err
}

func (g *Gate) offer(ctx context.Context, p *policy.Policy, by *events.Actor, via string) (Offered, error) {
	g.offers.mu.Lock()
	defer g.offers.mu.Unlock()
	now := g.Policy()
	o := Offered{Outcome: OfferUnchanged, Changes: policy.Compare(now, p, g.Known())}
	act := &events.Access{Action: actChange, Outcome: events.AccessOK, Actor: by, Resource: fromTo(now, p), Via: via}
	switch {
	case now.Digest() == p.Digest():
		g.offers.held = nil
		return o, nil
	case !policy.Loosens(o.Changes):
		if err := g.swap(ctx, p, act); err != nil {
			return o, err
		}
		g.offers.held, o.Outcome = nil, OfferApplied
		return o, nil
	}
	act.Outcome, act.Reason = events.AccessRefused, "it loosens: it waits for an administrator"
	o.Outcome = OfferHeld
	if h := g.offers.held; h != nil && h.Policy.Digest() == p.Digest() && h.Instead == now {
		return o, nil // it waits already, and is on the record
	}
	g.offers.held = &Held{Policy: p, Instead: now, Changes: o.Changes, Since: g.now()}
	if _, err := g.log.Append(ctx, events.Draft{Data: act}); err != nil {
		g.logger.WarnContext(ctx, "that a policy is held back could not be recorded", "error", err)
	}
	return o, nil
}

// Confirm lets the policy hold that waits, where it is of that digest and waits in
// place of the other. by is the administrator; that they are one is the caller's
// to know.
func (g *Gate) Confirm(ctx context.Context, instead, held events.Digest, by *events.Actor, via string) error {
	if by == nil {
		return ErrNobody
	}
	if err := g.confirmHeld(ctx, instead, held, by, via); err != nil {
		return err
	}
	g.rejudge(context.WithoutCancel(ctx))
	return nil
}

func (g *Gate) confirmHeld(ctx context.Context, instead, held events.Digest, by *events.Actor, via string) error {
	g.offers.mu.Lock()
	defer g.offers.mu.Unlock()
	h := g.offers.held
	if h == nil || events.Digest(h.Policy.Digest()) != held || events.Digest(h.Instead.Digest()) != instead {
		return ErrNotHeld
	}
	act := &events.Access{Action: actChange, Outcome: events.AccessOK, Actor: by, Resource: fromTo(h.Instead, h.Policy), Via: via}
	if err := g.swap(ctx, h.Policy, act); err != nil {
		return err
	}
	g.offers.held = nil
	return nil
}

// HeldPolicy returns the policy that waits; nil where none does.
func (g *Gate) HeldPolicy() *Held {
	g.offers.mu.Lock()
	defer g.offers.mu.Unlock()
	return g.offers.held
}

func fromTo(was, is *policy.Policy) string { return fmt.Sprintf("%s..%s", was.Digest(), is.Digest()) }

package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/policy"
)

// A call is judged when it is proposed, and what was judged is recorded. It may
// then wait across a restart, after which its tool, the tool's definition or the
// policy can be others. So the gate judges again at three places: when it
// starts, for what is pending; when somebody approves; and just before it
// records a start, whatever warrant the call has. An approval of the old is
// never one of the new.

// objection is what stands against a start now, though the call was let through.
type objection struct {
	cause events.Cause // policy: it is denied now; stale: it is another call now; "": nothing
	rule  string       // of the policy that denies
	why   string       // for reviewer and model, without a full stop
}

// objects compares a call with the tool and the policy of now.
func (g *Gate) objects(c *fold.Call) objection {
	t := g.tools[c.Tool]
	if t == nil {
		return stale("there is no tool %.80q any more", c.Tool)
	}
	v := g.verdict(g.Policy(), t)
	switch {
	case v.Effect == policy.Deny:
		return objection{cause: events.CausePolicy, rule: v.Rule, why: v.Why}
	case t.digest != c.ToolDigest:
		return stale("the tool %s is defined otherwise now than when the call was made", c.Tool)
	case t.Hindrance != "":
		return objection{cause: events.CauseStale, rule: ruleIsolation, why: strings.TrimSuffix(t.Hindrance, ".")}
	case v.Effect == policy.Ask && c.Effect == events.EffectAllow:
		return stale("it was free when the call was made, and asks now (rule %s: %s)", v.Rule, v.Why)
	}
	return objection{}
}

// objectsTo is objects for a call whose arguments are known: this build must
// take them as well.
func (g *Gate) objectsTo(c *fold.Call, arguments []byte) objection {
	if o := g.objects(c); o.cause != "" {
		return o
	}
	if err := g.fits(g.tools[c.Tool], arguments); err != nil {
		return stale("%s", clipTo(err.Error(), maxWhy))
	}
	return objection{}
}

// standsAt is what stands against a start at its moment, beyond what objectsTo
// knows: what would run is another program, or meets another file, than was
// approved.
func (g *Gate) standsAt(ctx context.Context, p plan) objection {
	if verify := g.tools[p.call.Tool].Verify; verify != nil {
		if err := verify(ctx); err != nil && ctx.Err() == nil {
			return stale("%s", clipTo(err.Error(), maxWhy))
		}
	}
	return g.targetMoved(ctx, p)
}

func stale(format string, args ...any) objection {
	return objection{cause: events.CauseStale, why: fmt.Sprintf(format, args...)}
}

// text is what the model is told.
func (o objection) text() string {
	if o.cause == events.CausePolicy {
		return fmt.Sprintf("Declined by policy (rule %s), which changed since the call was made: %s.", o.rule, o.why) + notRun
	}
	return "The call is not what it was when it was judged: " + o.why + "." + notRun
}

// against makes a plan end without a start, for an objection.
func (o objection) against(p plan) plan {
	p.over, p.rule, p.said = o.cause, o.rule, o.text()
	return p
}

// retire ends the pending requests of a session that no approval can make run
// any more. What cannot be read or recorded now is left: it is judged again
// before it starts.
func (g *Gate) retire(ctx context.Context, id string) {
	var ends []events.Draft
	for _, p := range g.undecided(ctx, id) {
		text, err := g.log.Payload(ctx, p.carrier, p.ref)
		if err != nil {
			continue
		}
		if o := g.objectsTo(&p.call, text); o.cause != "" {
			payload, result := g.unstarted(ctx, o.against(p))
			ends = append(ends, events.Draft{Session: id, Causation: p.call.EventID, Payloads: []events.Payload{payload}, Data: result})
		}
	}
	for some := range slices.Chunk(ends, recoverAtOnce) {
		if _, err := g.append(ctx, id, some...); err != nil && !errors.Is(err, ErrNotBack) {
			g.logger.WarnContext(ctx, "requests that cannot be approved any more could not be ended", "session", id, "error", err)
		}
	}
}

// undecided returns the calls of a session that wait for people, with their
// current arguments, in the model's order; none where it cannot be read.
func (g *Gate) undecided(ctx context.Context, id string) []plan {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, id)
	if err != nil {
		return nil
	}
	defer g.unload(s)
	var plans []plan
	for _, q := range s.Requests {
		if q.State == fold.Pending {
			plans = append(plans, plan{call: *s.Calls[q.CallKey], ref: carried(q), carrier: q.Carrier})
		}
	}
	slices.SortFunc(plans, func(a, b plan) int { return inOrder(a.call.CallKey, b.call.CallKey) })
	return plans
}

package gate_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

var root = &events.Actor{Person: "p-root", Roles: []string{"admin"}, Groups: []string{}, Method: "token"}

func compiled(t *testing.T, c policy.Config) *policy.Policy {
	t.Helper()
	c.Timeout, c.StartWithin = time.Minute, time.Minute
	p, err := policy.Compile(c)
	require.NoError(t, err)
	return p
}

func digestOf(p *policy.Policy) events.Digest { return events.Digest(p.Digest()) }

// acts returns the changes of policy of a log: outcome, actor, resource.
func acts(t *testing.T, log *memLog) (found [][3]string) {
	t.Helper()
	for _, e := range log.all() {
		env, err := events.DecodeEnvelope(e.Record.Envelope)
		require.NoError(t, err)
		event, err := env.Event()
		require.NoError(t, err)
		if a, ok := event.(*events.Access); ok && a.Action == "policy-change" {
			who := ""
			if a.Actor != nil {
				who = a.Actor.Person
			}
			found = append(found, [3]string{a.Outcome, who, a.Resource})
		}
	}
	return found
}

// What becomes of a policy that is offered while the gate runs: in the house Bash
// asks, Rm is denied, Read is free.
func TestAnOfferedPolicy(t *testing.T) {
	house := policy.Config{RequiredTools: []string{"Bash"}, DeniedTools: []string{"Rm"}}
	for name, c := range map[string]struct {
		offered policy.Config
		want    gate.OfferOutcome
		rm      events.Effect // afterwards
		read    events.Effect
	}{
		"the same":                {house, gate.OfferUnchanged, events.EffectDeny, events.EffectAllow},
		"one that tightens":       {policy.Config{RequiredTools: []string{"Bash", "Read"}, DeniedTools: []string{"Rm"}}, gate.OfferApplied, events.EffectDeny, events.EffectAsk},
		"one that loosens":        {policy.Config{RequiredTools: []string{"Bash", "Rm"}}, gate.OfferHeld, events.EffectDeny, events.EffectAllow},
		"one that does both":      {policy.Config{RequiredTools: []string{"Bash", "Rm", "Read"}}, gate.OfferHeld, events.EffectDeny, events.EffectAllow},
		"one that frees the rest": {policy.Config{RequiredSet: true, DeniedTools: []string{"Rm"}}, gate.OfferHeld, events.EffectDeny, events.EffectAllow},
	} {
		t.Run(name, func(t *testing.T) {
			log := newMemLog(time.Now)
			h := open(t, log, "b1", time.Minute)
			require.NoError(t, h.DefineAll(t.Context()))
			was, p := h.Policy(), compiled(t, c.offered)
			o, err := h.Offer(t.Context(), p, nil, "signal")
			require.NoError(t, err)
			require.Equal(t, c.want, o.Outcome)
			require.Equal(t, c.rm, h.Policy().Judge(policy.Call{Tool: "Rm", Source: policy.SourceBuiltin}).Effect)
			require.Equal(t, c.read, h.Policy().Judge(policy.Call{Tool: "Read", Source: policy.SourceBuiltin}).Effect)
			require.Equal(t, c.want == gate.OfferHeld, h.HeldPolicy() != nil)
			resource := was.Digest() + ".." + p.Digest()
			switch c.want {
			case gate.OfferUnchanged:
				require.Empty(t, acts(t, log))
			case gate.OfferApplied:
				require.Equal(t, [][3]string{{"ok", "", resource}}, acts(t, log))
				require.Len(t, defined(t, log), 5, "the new policy is defined before its first use")
			case gate.OfferHeld:
				require.Equal(t, [][3]string{{"refused", "", resource}}, acts(t, log))
				require.Len(t, defined(t, log), 4)
			}
		})
	}
}

// A policy that loosens holds once a person confirms exactly it, in place of
// exactly the one that holds.
func TestAHeldPolicyIsConfirmed(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	loose := compiled(t, policy.Config{RequiredTools: []string{"Bash"}})
	looser := compiled(t, policy.Config{RequiredSet: true})
	now := digestOf(h.Policy())
	offer := func(p *policy.Policy) {
		_, err := h.Offer(t.Context(), p, nil, "control")
		require.NoError(t, err)
	}
	confirm := func(instead, held events.Digest, by *events.Actor) error {
		return h.Confirm(t.Context(), instead, held, by, "console")
	}
	require.ErrorIs(t, confirm(now, digestOf(loose), root), gate.ErrNotHeld, "nothing waits")
	offer(loose)
	offer(loose) // it waits already
	require.Equal(t, 1, log.count(events.TypeAccess))
	require.ErrorIs(t, confirm(now, digestOf(looser), root), gate.ErrNotHeld, "another one waits")
	require.ErrorIs(t, confirm(digestOf(loose), digestOf(loose), root), gate.ErrNotHeld, "in place of another")
	require.ErrorIs(t, confirm(now, digestOf(loose), nil), gate.ErrNobody)
	offer(looser)
	require.ErrorIs(t, confirm(now, digestOf(loose), root), gate.ErrNotHeld, "a later one took its place")
	offer(loose)
	require.Equal(t, []policy.Change{
		{Words: "Rm: deny → allow", Loosens: true}, {Words: "denied-tools no longer names Rm", Loosens: true},
	}, h.HeldPolicy().Changes)
	require.NoError(t, confirm(now, digestOf(loose), root))
	require.Equal(t, loose.Digest(), h.Policy().Digest())
	require.Nil(t, h.HeldPolicy())
	all := acts(t, log)
	require.Equal(t, [3]string{"ok", "p-root", string(now) + ".." + loose.Digest()}, all[len(all)-1])

	offer(looser)
	offer(compiled(t, policy.Config{RequiredTools: []string{"Bash", "Rm"}})) // tightens, and holds
	require.Nil(t, h.HeldPolicy(), "what waited was compared with another policy")
}

// The log takes the document first: where it does not, nothing has changed.
func TestAPolicyThatCannotBeRecorded(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	was := h.Policy()
	log.set(refuses(events.TypeAccess, 1, events.ErrRefused))
	tight := compiled(t, policy.Config{RequiredTools: []string{"Bash", "Read"}, DeniedTools: []string{"Rm"}})
	_, err := h.Offer(t.Context(), tight, nil, "signal")
	require.ErrorIs(t, err, events.ErrRefused)
	require.Same(t, was, h.Policy())
	_, err = h.Offer(t.Context(), tight, nil, "signal")
	require.NoError(t, err)
	require.Same(t, tight, h.Policy())
}

// What waits is judged again: nobody is asked in vain, and what was approved under
// the old policy and is denied by the new one does not start.
func TestAPolicyIsForWhatWaitsToo(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "waits", "Bash")
	h.propose(t, "approved", "Bash")
	h.propose(t, "free", "Read")
	h.accepted(t, ruling(h.request(t, "approved", 0), events.VerdictApprove, alice))
	_, err := h.Offer(t.Context(), compiled(t, policy.Config{RequiredTools: []string{"Read"}, DeniedTools: []string{"Rm", "Bash"}}), nil, "signal")
	require.NoError(t, err)
	require.Equal(t, fold.Closed, h.request(t, "waits", 0).State)
	var ran atomic.Int32
	for session, status := range map[string]events.Status{"waits": events.StatusDeclined, "approved": events.StatusDeclined, "free": events.StatusStale} {
		r, _ := h.carry(t, session, 0, ok(&ran))
		require.Equal(t, status, r.Status, session)
	}
	require.Zero(t, ran.Load())
}

// After a start it is known what held before it, as the log tells.
func TestThePolicyBeforeThisBoot(t *testing.T) {
	log := newMemLog(time.Now)
	boot := func(id string) {
		_, err := log.as("agentd/n/"+id).Append(t.Context(), events.Draft{Data: &events.Boot{
			BootID: id, Node: "n", Version: "1", GoVersion: "go", Previous: []events.Head{}, Isolation: "none", Bus: "memory", AsksChanged: true, Clock: events.At(time.Now()),
		}})
		require.NoError(t, err)
	}
	boot("b1")
	h := open(t, log, "b1", time.Minute)
	before, err := h.PolicyBefore(t.Context())
	require.NoError(t, err)
	require.Nil(t, before)
	require.NoError(t, h.DefineAll(t.Context()))
	first := h.Policy()
	second := compiled(t, policy.Config{RequiredTools: []string{"Bash", "Read"}, DeniedTools: []string{"Rm"}})
	_, err = h.Offer(t.Context(), second, nil, "signal")
	require.NoError(t, err)
	h.stop()
	for i, c := range []struct{ now, before *policy.Policy }{{first, second}, {first, first}} {
		id := "b" + string(rune('2'+i))
		boot(id)
		h := openWith(t, log, time.Minute, func(o *gate.Options) { o.Boot, o.Policy = id, c.now })
		require.NoError(t, h.DefineAll(t.Context()))
		before, err := h.PolicyBefore(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.before.Digest(), before.Digest())
		h.stop()
	}
}

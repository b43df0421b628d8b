package gate_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// call is one call of Read in a session of its own, under a definition, and what
// became of it.
type defCall struct {
	definition string
	verdict    events.Verdict // of alice; "" where it must be free
	by         func(*testing.T, *house, *fold.Request)
	rule       string // under which it asked; "" means definition-changed
}

// A tool whose definition changed asks until a person let it run, whoever names
// it; also after a restart that reads the log anew, and one that does not.
func TestAChangedDefinitionAsks(t *testing.T) {
	approve, decline := events.VerdictApprove, events.VerdictDecline
	names := under(t, policy.Config{AllowedTools: []string{"Read"}})
	for name, c := range map[string]struct {
		policy func(*gate.Options)
		calls  []defCall
	}{
		"the first definition is free":         {calls: []defCall{{definition: "one"}, {definition: "one"}}},
		"a change asks, once approved no more": {calls: []defCall{{definition: "one"}, {"two", approve, nil, ""}, {definition: "two"}}},
		"declined, it asks again":              {calls: []defCall{{definition: "one"}, {"two", decline, nil, ""}, {"two", approve, nil, ""}, {definition: "two"}}},
		"the old one stays accepted":           {calls: []defCall{{definition: "one"}, {"two", approve, nil, ""}, {definition: "one"}}},
		"a third is another change":            {calls: []defCall{{definition: "one"}, {"two", approve, nil, ""}, {"three", approve, nil, ""}}},
		"allowed-tools changes nothing":        {policy: names, calls: []defCall{{definition: "one"}, {"two", approve, nil, ""}, {definition: "two"}}},
		"an approval that the policy asked for counts": {
			policy: under(t, policy.Config{RequiredTools: []string{"Read"}}),
			calls:  []defCall{{"one", approve, nil, policy.RuleRequired}, {"two", approve, nil, policy.RuleRequired}},
		},
	} {
		for _, path := range []string{"", filepath.Join(t.TempDir(), "gate.db")} {
			t.Run(name, func(t *testing.T) {
				log := newMemLog(time.Now)
				for i, call := range c.calls {
					h := openWith(t, log, time.Minute, func(o *gate.Options) {
						if o.Boot, o.Path = "b"+string(rune('1'+i)), path; c.policy != nil {
							c.policy(o)
						}
						redefined("Read", func(t *gate.Tool) { t.Definition = []byte(call.definition) })(o)
					})
					require.NoError(t, h.DefineAll(t.Context()))
					call.happens(t, h, "s"+string(rune('1'+i)))
					h.stop()
				}
			})
		}
	}
}

func (c defCall) happens(t *testing.T, h *house, session string) {
	h.propose(t, session, "Read")
	var ran atomic.Int32
	if c.verdict != "" {
		q := h.request(t, session, 0)
		want := c.rule
		if want == "" {
			want = "definition-changed"
			require.Contains(t, q.Why, "changed since it was last accepted")
		}
		require.Equal(t, want, q.Rule)
		h.accepted(t, ruling(q, c.verdict, alice))
	} else {
		require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { require.Nil(t, s.Calls[key(session, 0)].Request) }))
	}
	h.carry(t, session, 0, ok(&ran))
	require.Equal(t, c.verdict != events.VerdictDecline, ran.Load() == 1)
}

// A program's handler decides what the policy asks, and never that a tool may be
// another one.
func TestAHandlerAcceptsNoDefinition(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	require.NoError(t, h.DefineAll(t.Context()))
	h.stop()
	h = openWith(t, log, time.Minute, func(o *gate.Options) { o.Boot = "b2"; redefined("Read", newDefinition)(o) })
	p := proposal("s", "", "Read", "Bash")
	p.Handlers = true
	require.NoError(t, h.Propose(t.Context(), p))
	require.False(t, h.request(t, "s", 0).Handlers)
	require.True(t, h.request(t, "s", 1).Handlers)
}

// A deny denies, whatever was accepted; and a definition that nobody accepted is
// not what a free call of another node starts under.
func TestDenyBeatsAChangedDefinition(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	require.NoError(t, h.DefineAll(t.Context()))
	h.stop()
	h = openWith(t, log, time.Minute, func(o *gate.Options) { o.Boot = "b2"; redefined("Rm", newDefinition)(o) })
	h.propose(t, "s", "Rm")
	r, _ := h.result(t, "s", 0)
	require.Equal(t, []any{events.StatusDeclined, policy.RuleDenied}, []any{r.Status, r.Rule})
}

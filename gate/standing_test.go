package gate_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// under gives a gate another policy.
func under(t *testing.T, c policy.Config) func(*gate.Options) {
	t.Helper()
	c.Timeout, c.StartWithin = time.Minute, time.Minute
	p, err := policy.Compile(c)
	require.NoError(t, err)
	return func(o *gate.Options) { o.Policy = p }
}

// redefined changes one tool of a gate.
func redefined(name string, change func(*gate.Tool)) func(*gate.Options) {
	return func(o *gate.Options) {
		i := slices.IndexFunc(o.Tools, func(t gate.Tool) bool { return t.Name == name })
		change(&o.Tools[i])
	}
}

func newDefinition(t *gate.Tool) { t.Definition = []byte("another command") }

func newSchema(t *gate.Tool) {
	t.Schema = []byte(`{"type":"object","properties":{"command":{"const":"pwd"}}}`)
}

func without(name string) func(*gate.Options) {
	return func(o *gate.Options) {
		o.Tools = slices.DeleteFunc(o.Tools, func(t gate.Tool) bool { return t.Name == name })
	}
}

// Invariant 1: a warrant is for the call that was judged. Where tool or policy
// changed while the process was down, what waited does not start under it.
func TestWhatChangedOverARestart(t *testing.T) {
	denies := func(names ...string) func(*gate.Options) {
		return under(t, policy.Config{RequiredTools: []string{"Bash"}, DeniedTools: names})
	}
	for _, c := range []struct {
		name, tool string
		approved   bool // before the restart
		change     func(*gate.Options)
		status     events.Status
		cause      events.Cause
		rule, text string
	}{
		{"nothing", "Bash", true, func(*gate.Options) {}, events.StatusOK, events.CauseHuman, "required-tools", "ls"},
		{"the policy, for others", "Bash", true, denies("Write"), events.StatusOK, events.CauseHuman, "required-tools", "ls"},
		{"the policy denies", "Bash", false, denies("Bash"), events.StatusDeclined, events.CausePolicy, "denied-tools", "denied-tools names Bash"},
		{"the policy denies what was approved", "Bash", true, denies("Bash"), events.StatusDeclined, events.CausePolicy, "denied-tools", "changed"},
		{"the policy denies what was free", "Read", false, denies("Read"), events.StatusDeclined, events.CausePolicy, "denied-tools", "changed"},
		{"the policy asks", "Read", false, under(t, policy.Config{RequiredTools: []string{"Read"}}), events.StatusStale, events.CauseStale, "default", "asks now"},
		{"the policy asks no more", "Bash", true, under(t, policy.Config{RequiredSet: true}), events.StatusOK, events.CauseHuman, "required-tools", "ls"},
		{"the definition", "Bash", false, redefined("Bash", newDefinition), events.StatusStale, events.CauseStale, "required-tools", "defined otherwise"},
		{"the definition of what was approved", "Bash", true, redefined("Bash", newDefinition), events.StatusStale, events.CauseStale, "required-tools", "defined otherwise"},
		{"the definition of what was free", "Read", false, redefined("Read", newDefinition), events.StatusStale, events.CauseStale, "default", "defined otherwise"},
		{"what fits", "Bash", false, redefined("Bash", newSchema), events.StatusStale, events.CauseStale, "required-tools", "do not fit"},
		{"what fits, of what was approved", "Bash", true, redefined("Bash", newSchema), events.StatusStale, events.CauseStale, "required-tools", "do not fit"},
		{"the tool is gone", "Bash", false, without("Bash"), events.StatusStale, events.CauseStale, "required-tools", "no tool"},
		{"the approved tool is gone", "Bash", true, without("Bash"), events.StatusStale, events.CauseStale, "required-tools", "no tool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newMemLog(time.Now)
			h := open(t, log, "b1", time.Minute)
			h.propose(t, "s", c.tool)
			if c.approved {
				h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
			}
			h.stop()
			h = openWith(t, log, time.Minute, func(o *gate.Options) { o.Boot = "b2"; c.change(o) })
			if c.tool == "Bash" && !c.approved {
				require.Equal(t, fold.Closed, h.request(t, "s", 0).State, "nobody is asked in vain")
				require.Contains(t, h.refused(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice)), "the request is closed: ")
			}
			var ran atomic.Int32
			r, text := h.carry(t, "s", 0, ok(&ran))
			require.Equal(t, []any{c.status, c.cause, c.rule}, []any{r.Status, r.Cause, r.Rule})
			require.Contains(t, text, c.text)
			require.Equal(t, c.status == events.StatusOK, ran.Load() == 1)
			require.Equal(t, c.status == events.StatusOK, log.count(events.TypeToolStarted) == 1, "no start is minted")
		})
	}
}

// A request that came when the gate was up already, from a node that has other
// tools, is not approved here, nor with changed arguments; declining it is free.
func TestADecisionOnWhatCannotRun(t *testing.T) {
	for _, c := range []struct {
		change func(*gate.Options)
		why    string
	}{
		{redefined("Bash", newDefinition), "it cannot run any more: the tool Bash is defined otherwise"},
		{without("Bash"), "it cannot run any more: there is no tool"},
		{under(t, policy.Config{DeniedTools: []string{"Bash"}}), "it cannot run any more: denied-tools names Bash"},
	} {
		log := newMemLog(time.Now)
		other := openWith(t, log, time.Minute, func(o *gate.Options) { o.Node = "m" })
		h := openWith(t, log, time.Minute, c.change)
		other.propose(t, "s", "Bash")
		h.until(t, "s", func(s *fold.Session) bool { return len(s.Requests) == 1 })
		q := h.request(t, "s", 0)
		require.Contains(t, h.refused(t, ruling(q, events.VerdictApprove, alice)), c.why)
		require.Contains(t, h.refused(t, ruling(q, "", alice, becomes(changed))), c.why)
		require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
		h.accepted(t, ruling(q, events.VerdictDecline, alice))
	}
}

// A schema's own numbers have the same bounds: the checker would pass over what
// it cannot hold.
func TestASchemaWithANumberBeyondMemory(t *testing.T) {
	_, err := build(t.Context(), newMemLog(time.Now), time.Minute, redefined("Read", func(t *gate.Tool) {
		t.Schema = []byte(`{"type":"object","properties":{"n":{"anyOf":[{"type":"number","minimum":1e9999999}]}}}`)
	}))
	require.ErrorContains(t, err, `tool "Read": its schema: the number 1e9999999 has an exponent beyond 400`)
}

// A number that no memory holds is refused before anything calculates with it,
// from a model and from a reviewer.
func TestANumberBeyondMemory(t *testing.T) {
	h := openWith(t, newMemLog(time.Now), time.Minute, redefined("Bash", func(t *gate.Tool) {
		t.Schema = []byte(`{"type":"object","properties":{"n":{"type":"number","minimum":0}}}`)
	}))
	p := proposal("s", "", "Bash", "Bash")
	p.Calls[0].Arguments, p.Calls[1].Arguments = []byte(`{"n":1e9999999}`), []byte(`{"n":1e2}`)
	require.NoError(t, h.Propose(t.Context(), p))
	r, text := h.result(t, "s", 0)
	require.Equal(t, []any{events.StatusError, "arguments"}, []any{r.Status, r.Rule})
	require.Contains(t, text, "exponent")
	q := h.request(t, "s", 1)
	require.Contains(t, h.refused(t, ruling(q, "", alice, becomes(`{"n":1e9999999}`))), "exponent")
	h.accepted(t, ruling(q, "", alice, becomes(`{"n":3}`)))
}

// A tool that cannot be shut off on this machine is answered without asking; a
// call of it that was approved elsewhere does not start; what is denied is denied.
func TestAToolThatCannotBeShutOff(t *testing.T) {
	hindered := redefined("Bash", func(t *gate.Tool) { t.Hindrance = "There are no user namespaces." })
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "old", "Bash")
	h.accepted(t, ruling(h.request(t, "old", 0), events.VerdictApprove, alice))
	h.stop()

	h = openWith(t, log, time.Minute, func(o *gate.Options) {
		o.Boot = "b2"
		hindered(o)
		redefined("Rm", func(t *gate.Tool) { t.Hindrance = "There are no user namespaces." })(o)
	})
	var ran atomic.Int32
	r, text := h.carry(t, "old", 0, ok(&ran))
	require.Equal(t, []any{events.StatusStale, "isolation"}, []any{r.Status, r.Rule})
	require.Contains(t, text, "There are no user namespaces.")
	h.propose(t, "s", "Bash", "Rm")
	r, text = h.result(t, "s", 0)
	require.Equal(t, []any{events.StatusError, events.CausePolicy, "isolation"}, []any{r.Status, r.Cause, r.Rule})
	require.Equal(t, "The tool was not run: There are no user namespaces.", text)
	r, _ = h.result(t, "s", 1)
	require.Equal(t, events.StatusDeclined, r.Status)
	require.Zero(t, ran.Load())
}

// What would run is held against its definition just before the start, whatever
// warrants it, and also where the call would start with its turn.
func TestVerifyingBeforeTheStart(t *testing.T) {
	for _, tool := range []string{"Bash", "Read"} {
		for name, failure := range map[string]error{"the same": nil, "another program": errors.New("the program was changed")} {
			t.Run(tool+" "+name, func(t *testing.T) {
				h := openWith(t, newMemLog(time.Now), time.Minute, redefined(tool, func(g *gate.Tool) {
					g.Verify = func(context.Context) error { return failure }
				}))
				require.NoError(t, h.Propose(t.Context(), atOnce("s", "", tool)))
				if tool == "Bash" {
					h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
				}
				var ran atomic.Int32
				r, text := h.carry(t, "s", 0, ok(&ran))
				if failure == nil {
					require.Equal(t, events.StatusOK, r.Status)
					return
				}
				require.Equal(t, []any{events.StatusStale, events.CauseStale}, []any{r.Status, r.Cause})
				require.Contains(t, text, "the program was changed")
				require.Zero(t, ran.Load())
				require.Zero(t, h.log.count(events.TypeToolStarted))
			})
		}
	}
}

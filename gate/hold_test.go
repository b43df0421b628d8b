package gate_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// turns is a gate in which Bash and Look ask, Write is free, and Read and Look
// change nothing.
func turns(t *testing.T, log *memLog) *house {
	t.Helper()
	return openWith(t, log, time.Hour, func(o *gate.Options) {
		p, err := policy.Compile(policy.Config{RequiredTools: []string{"Bash", "Look"}, DeniedTools: []string{"Rm"}, RequiredSet: true, Timeout: time.Hour, StartWithin: time.Minute})
		require.NoError(t, err)
		o.Policy = p
		for _, name := range []string{"Write", "Look"} {
			o.Tools = append(o.Tools, gate.Tool{
				Name: name, Source: events.SourceBuiltin, Definition: []byte(name), Schema: []byte(schema), ReadOnly: name == "Look",
			})
		}
	})
}

// A protected call holds back all calls of its turn but read-only ones, until
// every protected call of the turn is decided.
func TestATurnIsHeldBack(t *testing.T) {
	for _, c := range []struct {
		name, calls string
		decided     string // what was said of each call: approve, decline, or nothing
		held        string // those that do not start yet
	}{
		{"a free call beside a protected one", "Bash Write", "- -", "Bash Write"},
		{"a free call before it", "Write Bash", "- -", "Write Bash"},
		{"a read-only call", "Bash Read", "- -", "Bash"},
		{"an approved call, while another waits", "Bash Bash Write", "approve - -", "Bash Bash Write"},
		{"a declined call ends at once", "Bash Bash Write", "decline - -", "Bash Write"},
		{"all decided", "Bash Bash Write", "approve decline -", ""},
		{"a read-only call that asks holds the others", "Look Write Bash", "- - approve", "Look Write Bash"},
		{"a read-only call that was approved is held by none", "Look Bash", "approve -", "Bash"},
		{"what was denied holds nothing", "Rm Write", "- -", ""},
		{"nothing asks", "Write Read", "- -", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := turns(t, newMemLog(time.Now))
			calls, said := strings.Fields(c.calls), strings.Fields(c.decided)
			p := atOnce("s", "", calls...)
			require.NoError(t, h.Propose(t.Context(), p))
			for i, verdict := range said {
				if verdict != "-" {
					h.accepted(t, ruling(h.request(t, "s", i), events.Verdict(verdict), alice))
				}
			}
			impatient, end := context.WithCancel(t.Context())
			end()
			var held []string
			var ran atomic.Int32
			for i, tool := range calls {
				if err := h.CarryWhile(t.Context(), impatient, "s", key("s", i), ok(&ran)); err != nil {
					require.ErrorIs(t, err, gate.ErrUndecided)
					held = append(held, tool)
				}
				require.NoError(t, h.View(t.Context(), "s", func(s *fold.Session) {
					call := s.Calls[key("s", i)]
					waits := call.Request != nil && call.Request.State == fold.Pending
					require.Equal(t, call.Open(), waits || h.Held(s, call), "what is open waits, or is held")
				}))
			}
			require.Equal(t, c.held, strings.Join(held, " "))
		})
	}
}

// An approval does not lapse while its turn holds it back.
func TestAnApprovalThatIsHeldBackDoesNotLapse(t *testing.T) {
	for calls, want := range map[string]time.Duration{
		"Bash": time.Minute, "Bash Write": time.Minute, "Bash Bash": time.Hour + time.Minute, "Bash Look": time.Hour + time.Minute,
	} {
		h := turns(t, newMemLog(time.Now))
		require.NoError(t, h.Propose(t.Context(), proposal("s", "", strings.Fields(calls)...)))
		require.EqualValues(t, want, h.request(t, "s", 0).StartWithin, calls)
		h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice, becomes(changed)))
		require.EqualValues(t, want, h.request(t, "s", 0).StartWithin, "%s, revised", calls)
	}
	h := turns(t, newMemLog(time.Now))
	require.NoError(t, h.Propose(t.Context(), proposal("s", "", "Look", "Bash")))
	require.EqualValues(t, time.Minute, h.request(t, "s", 0).StartWithin, "nothing holds back what is read-only")
}

// A later proposal of the same turn does not get round it.
func TestASecondProposalOfATurn(t *testing.T) {
	h := turns(t, newMemLog(time.Now))
	require.NoError(t, h.Propose(t.Context(), proposal("s", "", "Bash")))
	p := atOnce("s", "", "Bash", "Write", "Read")
	p.Calls = p.Calls[1:]
	require.NoError(t, h.Propose(t.Context(), p))
	require.False(t, h.started(t, "s", 1))
	require.True(t, h.started(t, "s", 2))
	h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictDecline, alice))
	var ran atomic.Int32
	h.carry(t, "s", 1, ok(&ran))
	require.EqualValues(t, 1, ran.Load())
}

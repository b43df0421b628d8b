package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// What Check lets pass, Decide takes; what it refuses, Decide refuses, in the
// same words.
func TestCheckSaysWhatDecideWouldSay(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	for name, c := range map[string]struct{ tool, arguments, why string }{
		"fits":            {"Bash", `{"command":"ls"}`, ""},
		"another type":    {"Bash", `{"command":7}`, `do not fit its schema: at "/command": got number, want string`},
		"a member more":   {"Bash", `{"command":"ls","x":1}`, "additional properties 'x' not allowed"},
		"no JSON":         {"Bash", `{"command":`, "arguments are not valid"},
		"no such tool":    {"Nothing", `{}`, `The tool "Nothing" is unknown`},
		"a name repeated": {"Bash", `{"command":"a","command":"b"}`, "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			err := h.Check(t.Context(), c.tool, []byte(c.arguments))
			if c.why == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.why)
		})
	}
}

// What several rulings share is recorded with each, and each is judged alone.
func TestRulingsThatWereSentAtOnce(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	for i, session := range []string{"s1", "s2"} {
		h.propose(t, session, "Bash")
		q := h.request(t, session, 0)
		if i == 1 {
			_, err := h.Decide(t.Context(), gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictDecline, Actor: bob, ActorName: "Bob", Via: "console"})
			require.NoError(t, err)
		}
		answer, err := h.Decide(t.Context(), gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictApprove, Actor: alice, ActorName: "Alice", Via: "console", Bulk: "bulk-1"})
		require.NoError(t, err)
		require.Equal(t, i == 0, answer.Accepted)
	}
	require.Equal(t, "bulk-1", h.request(t, "s1", 0).End.Bulk)
	require.Empty(t, h.request(t, "s2", 0).End.Bulk)
}

package gate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// gauges are what a gate exports that is not 0, by name and tool.
func gauges(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			if v := m.GetGauge().GetValue(); v != 0 {
				all[name] = v
			}
		}
	}
	return all
}

// What waits and what runs is seen while it does, and not after.
func TestWhatWaitsAndRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewPedanticRegistry()
		h := openWith(t, newMemLog(time.Now), time.Minute, func(o *gate.Options) { o.Metrics = reg })
		h.propose(t, "s", "Bash")
		h.propose(t, "waits", "Bash")
		require.Equal(t, map[string]float64{"countersign_gate_waiters": 2}, gauges(t, reg))

		h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, reviewer("p-ben")))
		var during map[string]float64
		h.carry(t, "s", 0, func(context.Context, []byte) gate.Output {
			during = gauges(t, reg)
			panic("a tool of a test")
		})
		require.Equal(t, map[string]float64{"countersign_gate_waiters": 1, "countersign_tool_calls_in_flight Bash": 1}, during)
		h.accepted(t, ruling(h.request(t, "waits", 0), events.VerdictDecline, reviewer("p-ben")))
		require.Empty(t, gauges(t, reg))
	})
}

// Each way in which a ruling has no effect has its class.
func TestRefusalsHaveAClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, newMemLog(time.Now), "b1", time.Minute)
		h.propose(t, "decided", "Bash")
		h.propose(t, "waits", "Bash")
		h.askByHand(t, "ours", func(q *events.ApprovalRequest) { q.Approvers = []string{"group:sre"} })
		h.propose(t, "late", "Bash")
		late := h.request(t, "late", 0)
		h.accepted(t, ruling(h.request(t, "decided", 0), events.VerdictDecline, reviewer("p-ben")))

		waits := h.request(t, "waits", 0)
		unknown := *waits
		unknown.RequestID = events.NewRequestID()
		approve := events.VerdictApprove
		for want, r := range map[gate.Class]gate.Ruling{
			gate.ClassUnknown:   ruling(&unknown, approve, reviewer("p-ben")),
			gate.ClassDecided:   ruling(h.request(t, "decided", 0), approve, reviewer("p-ben")),
			gate.ClassForbidden: ruling(h.request(t, "ours", 0), approve, reviewer("p-ben")),
			gate.ClassMismatch:  ruling(waits, approve, reviewer("p-ben"), func(r *gate.Ruling) { r.RequestDigest = events.DigestOf([]byte("other")) }),
			gate.ClassInvalid:   ruling(waits, approve, reviewer("p-ben"), becomes("not JSON")),
		} {
			answer, err := h.Decide(t.Context(), r)
			require.NoError(t, err)
			require.False(t, answer.Accepted)
			require.Equal(t, want, answer.Class, answer.Reason)
		}
		require.Empty(t, h.accepted(t, ruling(waits, approve, reviewer("p-ben"))).Class)
		h.until(t, "late", func(s *fold.Session) bool { return s.Requests[late.RequestID].State != fold.Pending })
		answer, err := h.Decide(t.Context(), ruling(late, approve, reviewer("p-ben")))
		require.NoError(t, err)
		require.Equal(t, gate.ClassExpired, answer.Class, answer.Reason)
	})
}

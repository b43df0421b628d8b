package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/api"
)

// counted are the counters and gauges of a registry that are not 0, by name and
// labels.
func counted(t *testing.T, reg *prometheus.Registry) map[string]float64 {
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
			if v := m.GetCounter().GetValue() + m.GetGauge().GetValue(); v != 0 {
				all[name] = v
			}
		}
	}
	return all
}

// Posted decisions are counted with what became of them, streams with how they
// began and ended.
func TestTheAPICounts(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	h := newHouse(t, options{script: oneCall, change: func(o *api.Options) { o.Metrics = reg }})
	request, s := h.pending("c")
	require.InDelta(t, 1, counted(t, reg)["countersign_sse_clients chat"], 0)

	require.Equal(t, http.StatusBadRequest, h.post(alice, `{"decision":"approve"}`).status)
	require.False(t, h.decide(alice, "00000000-0000-4000-8000-000000000000", "approve").Accepted)
	require.False(t, h.post(alice, fmt.Sprintf(`{"requestId":%q,"decision":"approve","argumentsDigest":"sha256:%064d"}`, request, 1)).verdict(t).Accepted)
	require.False(t, h.post(alice, fmt.Sprintf(`{"requestId":%q,"decision":"approve_and_modify","arguments":"[]"}`, request)).verdict(t).Accepted)
	require.True(t, h.decide(alice, request, "approve").Accepted)
	require.False(t, h.decide(alice, request, "decline").Accepted)
	frames := len(s.rest())
	require.Positive(t, frames)

	// The client may see the end before the server has counted it.
	require.Eventually(t, func() bool { return counted(t, reg)["countersign_sse_disconnects_total done chat"] == 1 }, 10*time.Second, time.Millisecond)
	all := counted(t, reg)
	for result, want := range map[string]float64{"accepted": 1, "unknown": 1, "already_decided": 1, "digest_mismatch": 1, "invalid": 2} {
		require.InDelta(t, want, all["countersign_approval_submissions_total api "+result], 0, result)
	}
	require.NotContains(t, all, "countersign_sse_clients chat")
	require.GreaterOrEqual(t, all["countersign_sse_messages_sent_total chat"], float64(frames))
}

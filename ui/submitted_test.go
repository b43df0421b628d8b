package ui_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui"
)

// Each posted decision is counted by what became of it.
func TestPostedDecisionsAreCounted(t *testing.T) {
	t.Parallel()
	for result, c := range map[string]struct {
		change func(*world, string, url.Values)
		path   string
		status int
	}{
		"accepted": {status: http.StatusSeeOther},
		"invalid":  {change: func(_ *world, _ string, f url.Values) { f.Del("key") }, status: http.StatusBadRequest},
		"unknown":  {path: "/requests/nothing/decide", status: http.StatusForbidden},
		"failed":   {change: func(w *world, _ string, _ url.Values) { w.gate.set("", errors.New("no")) }, status: http.StatusInternalServerError},
		"digest_mismatch": {change: func(w *world, _ string, f url.Values) {
			f.Set("digest", strings.Repeat("0", 64))
			w.gate.set("other", nil)
		}, status: http.StatusConflict},
		"expired": {change: func(w *world, _ string, _ url.Values) { w.log.Advance(4 * time.Minute); w.gate.set("late", nil) }, status: http.StatusGone},
		"already_decided": {change: func(w *world, id string, _ url.Values) {
			w.log.Decide(w.gate.requests[id], w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
			w.gate.set("declined by Dana", nil)
		}, status: http.StatusConflict},
	} {
		t.Run(result, func(t *testing.T) {
			reg := prometheus.NewRegistry()
			w := newWorld(t, func(o *ui.Options) { o.Metrics = reg })
			_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
			ben := w.as("ben")
			form := ben.get("/requests/" + q.RequestID).fields("form.decide")
			form.Set("verdict", "approve")
			if c.change != nil {
				c.change(w, q.RequestID, form)
			}
			path := c.path
			if path == "" {
				path = "/requests/" + q.RequestID + "/decide"
			}
			require.Equal(t, c.status, ben.post(path, form).status)
			require.Equal(t, map[string]float64{result: 1}, submissions(t, reg))
		})
	}
}

// submissions are the counts that are not zero, by result.
func submissions(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	counts := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "countersign_approval_submissions_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "result" && m.GetCounter().GetValue() > 0 {
					counts[l.GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
	}
	return counts
}

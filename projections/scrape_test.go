package projections_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/projections"
)

// registryOf has the collectors of some views alone.
func registryOf(t testing.TB, v *projections.Views) *prometheus.Registry {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(projections.NewCollector(v)))
	require.NoError(t, reg.Register(projections.NewProgress(v)))
	return reg
}

// exposition is what a scraper reads.
func exposition(t testing.TB, v *projections.Views) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registryOf(t, v), promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return w.Body.String()
}

// catchUp runs views until they have found that the log has no more.
func catchUp(t testing.TB, v *projections.Views) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	require.Eventually(t, func() bool { return v.Status().CaughtUp }, 10*time.Second, time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

// scrape returns the values that a scraper reads, by series.
func scrape(t testing.TB, v *projections.Views) map[string]float64 {
	t.Helper()
	return parse(t, exposition(t, v))
}

func parse(t testing.TB, text string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
		require.NoError(t, err, line)
		values[line[:at]] = n
	}
	return values
}

package instruments_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/instruments"
)

// values are the counters and gauges of a registry, by name and label values.
func values(t *testing.T, reg *prometheus.Registry) map[string]float64 {
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
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// Two packages count in one family, whichever comes first.
func TestFamiliesAreShared(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	console, err := instruments.NewStreams(reg, instruments.StreamConsole)
	require.NoError(t, err)
	chat, err := instruments.NewStreams(reg, instruments.StreamChat)
	require.NoError(t, err)
	console.Clients.WithLabelValues(instruments.StreamConsole).Inc()
	chat.Clients.WithLabelValues(instruments.StreamChat).Add(2)
	web, err := instruments.NewSubmissions(reg, instruments.ChannelWeb)
	require.NoError(t, err)
	_, err = instruments.NewSubmissions(reg, instruments.ChannelAPI)
	require.NoError(t, err)
	web.WithLabelValues(instruments.ChannelWeb, instruments.SubmitAccepted).Inc()

	all := values(t, reg)
	for name, want := range map[string]float64{
		"countersign_sse_clients console":                      1,
		"countersign_sse_clients chat":                         2,
		"countersign_sse_disconnects_total slow_consumer chat": 0,
		"countersign_approval_submissions_total web accepted":  1,
		"countersign_approval_submissions_total api accepted":  0,
		"countersign_sse_delivery_latency_seconds console":     0,
	} {
		require.Contains(t, all, name)
		require.InDelta(t, want, all[name], 0, name)
	}
}

// What is not exported is counted all the same; what cannot be exported says so.
func TestRegister(t *testing.T) {
	c, err := instruments.Register(nil, instruments.Counter("a_total", "A."))
	require.NoError(t, err)
	c.WithLabelValues().Inc()
	require.NoError(t, instruments.RegisterAll(nil, c))

	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, instruments.RegisterAll(reg, c))
	require.Error(t, instruments.RegisterAll(reg, c), "twice is a mistake where it is not shared")
	_, err = instruments.Register(reg, instruments.Gauge("a_total", "A."))
	require.Error(t, err, "the same name is another kind")
	_, err = instruments.Register(reg, instruments.Counter("a_total", "B."))
	require.Error(t, err)
}

func TestReadings(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	known := false
	require.NoError(t, instruments.RegisterAll(reg,
		instruments.Read("oldest_timestamp_seconds", "O.", func() (float64, bool) { return 7, known }),
		instruments.ReadTotal("lost_total", "L.", func() float64 { return 3 })))
	require.Equal(t, map[string]float64{"lost_total": 3}, values(t, reg), "what is not there has no sample")
	known = true
	require.Equal(t, map[string]float64{"lost_total": 3, "oldest_timestamp_seconds": 7}, values(t, reg))
}

func TestNames(t *testing.T) {
	many := make([]string, 0, 300)
	for i := range 300 {
		many = append(many, strings.Repeat("x", i%60+1)+string(rune('a'+i/60)))
	}
	require.Len(t, instruments.NewNames(many...).All(), instruments.MaxNames+1)

	n := instruments.NewNames("Bash", "Read", "\xff\xfe", "", strings.Repeat("a", 65))
	require.Equal(t, []string{"Bash", "Read", instruments.Other}, n.All())
	for name, want := range map[string]string{
		"Bash": "Bash", "bash": instruments.Other, "Bash ": instruments.Other, "\xff\xfe": instruments.Other, "": instruments.Other,
		strings.Repeat("a", 65): instruments.Other, "quote\"back\\slash": instruments.Other, "B\u0430sh": instruments.Other,
	} {
		require.Equal(t, want, n.Of(name), "%q", name)
	}
}

func TestHTTP(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	h, err := instruments.NewHTTP(reg)
	require.NoError(t, err)
	var flushed error = http.ErrNotSupported // until it was
	inner := http.NewServeMux()
	inner.HandleFunc("GET /requests/{id}", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.Write([]byte("x"))
	})
	inner.HandleFunc("POST /requests/{id}/decide", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) })
	inner.HandleFunc("GET /live", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		flushed = http.NewResponseController(w).Flush()
	})
	inner.HandleFunc("GET /panics", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	outer := http.NewServeMux()
	outer.Handle("/", inner)
	for _, r := range [][2]string{
		{"GET", "/requests/1"},
		{"GET", "/requests/2?q=secret"},
		{"POST", "/requests/3/decide"},
		{"GET", "/live"},
		{"GET", "/no-such-page-1"},
		{"GET", "/no-such-page-2"},
		{"INVENTED", "/live"},
	} {
		h.Handler(outer).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(r[0], r[1], nil))
	}
	require.NoError(t, flushed, "what is under it can still be reached")
	require.Panics(t, func() {
		h.Handler(outer).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/panics", nil))
	})
	require.Equal(t, map[string]float64{
		"countersign_http_requests_total 200 /requests/{id} GET":               2,
		"countersign_http_requests_total 409 /requests/{id}/decide POST":       1,
		"countersign_http_requests_total 200 /live GET":                        1,
		"countersign_http_requests_total 404 _other GET":                       2,
		"countersign_http_requests_total 405 _other _other":                    1,
		"countersign_http_requests_total 500 /panics GET":                      1,
		"countersign_http_request_duration_seconds /requests/{id} GET":         2,
		"countersign_http_request_duration_seconds /requests/{id}/decide POST": 1,
		"countersign_http_request_duration_seconds _other GET":                 2,
		"countersign_http_request_duration_seconds _other _other":              1,
		"countersign_http_request_duration_seconds /panics GET":                1,
	}, values(t, reg), "a stream's duration is no answer's")
}

package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// fakeGate answers as it is told.
type fakeGate struct {
	answer gate.Answer
	err    error
	got    gate.Ruling
}

func (g *fakeGate) Decide(_ context.Context, r gate.Ruling) (gate.Answer, error) {
	g.got = r
	return g.answer, g.err
}

func (g *fakeGate) Ready() <-chan struct{} { return make(chan struct{}) }

func TestWhatTheGateAnswers(t *testing.T) {
	tests := map[string]struct {
		answer gate.Answer
		err    error
		status int
		body   string // the answer holds it
	}{
		"accepted":   {gate.Answer{Accepted: true}, nil, 200, `{"accepted":true}`},
		"a quorum":   {gate.Answer{Accepted: true, Needed: 1}, nil, 200, `{"accepted":true,"needed":1}`},
		"refused":    {gate.Answer{Reason: "no"}, nil, 200, `{"accepted":false,"reason":"no"}`},
		"not back":   {gate.Answer{EventID: "e-1"}, fmt.Errorf("%w within 10s", gate.ErrNotBack), 503, `"eventId":"e-1"`},
		"no room":    {gate.Answer{EventID: "e-1"}, fmt.Errorf("%w: x", gate.ErrNotTaken), 503, `"code":"not_recorded_yet"`},
		"stopped":    {gate.Answer{}, fmt.Errorf("append: %w", events.ErrLogStopped), 503, `"log_stopped"`},
		"full":       {gate.Answer{}, events.ErrRefused, 503, `"log_refused"`},
		"a bad disk": {gate.Answer{}, errors.New("/data/journal.db: disk I/O error"), 503, `"failed"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := &fakeGate{answer: test.answer, err: test.err}
			h := newHouse(t, options{script: oneCall, change: func(o *api.Options) { o.Gate = g }})
			a := h.post(alice, `{"requestId":"r","decision":"approve","comment":"ok"}`, "Idempotency-Key", "k")
			require.Equal(t, test.status, a.status)
			require.Contains(t, a.body, test.body)
			require.NotContains(t, a.body, "journal.db")
			require.Equal(t, test.status == 503, a.header.Get("Retry-After") != "")
			require.Equal(t, []any{"r", events.VerdictApprove, "ok", "chat-api", "k", "alice"},
				[]any{g.got.RequestID, g.got.Verdict, g.got.Comment, g.got.Via, g.got.IdempotencyKey, g.got.ActorName})
			require.Equal(t, 503, h.do(h.request("", http.MethodGet, "/readyz", "")).status, "a gate that is not ready")
		})
	}
}

func TestTheControlSocket(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	h := newHouse(t, options{script: oneCall})
	fails := error(nil)
	s := httptest.NewServer(api.Control(api.ControlOptions{
		Link:   func(context.Context) (string, time.Time, error) { return "http://x/sign-in?link=s", at, fails },
		Status: func() api.Status { return api.Status{Version: "v", Boot: "b", Ready: true} }, Recorder: h.access,
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	a := h.do(h.request("", http.MethodPost, "/sign-in-link", ""))
	require.JSONEq(t, `{"url":"http://x/sign-in?link=s","expires":"2026-11-30T12:00:00Z"}`, a.body)
	require.Equal(t, "sign-in-link", h.access.all()[0].Action)
	require.Contains(t, h.do(h.request("", http.MethodGet, "/status", "")).body, `"version":"v"`)
	require.Equal(t, 405, h.do(h.request("", http.MethodGet, "/sign-in-link", "")).status)
	fails = errors.New("there is no local admin")
	require.Equal(t, 503, h.do(h.request("", http.MethodPost, "/sign-in-link", "")).status)
}

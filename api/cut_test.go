package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// slowGate takes no decision before the request is cut off.
type slowGate struct{ fakeGate }

func (g *slowGate) Decide(ctx context.Context, _ gate.Ruling) (gate.Answer, error) {
	<-ctx.Done()
	return gate.Answer{}, context.Cause(ctx)
}

// What was cut off before it was done is never answered with success: net/http
// sends an empty 200 for a handler that says nothing.
func TestACutRequestIsNoSuccess(t *testing.T) {
	h := newHouse(t, options{script: oneCall, change: func(o *api.Options) { o.Gate = &slowGate{} }})
	for cause, code := range map[error]string{agent.ErrStopping: "stopping", context.Canceled: "cut_off", errors.New("other"): "failed"} {
		ctx, cut := context.WithCancelCause(t.Context())
		cut(cause)
		for _, path := range []string{"DELETE /chat/stream/c", "GET /chat/stream/c", "POST /chat/approval"} {
			who := carla
			method, path, _ := strings.Cut(path, " ")
			if method == http.MethodPost {
				who = alice
			}
			r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, strings.NewReader(`{"requestId":"r","decision":"decline"}`))
			r.Header.Set("Authorization", "Bearer "+who)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.api.Handler().ServeHTTP(w, r)
			a := answer{w.Code, w.Header(), w.Body.String()}
			require.Equal(t, []any{http.StatusServiceUnavailable, code}, []any{a.status, a.code(t)}, "%s %s", method, path)
		}
	}
}

// Who goes away at once is on the record as everybody else.
func TestARefusalOfAClientThatHasGone(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/chat/approval", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+carla)
	h.api.Handler().ServeHTTP(httptest.NewRecorder(), r)
	acts := h.access.all()
	require.Len(t, acts, 1)
	require.Equal(t, []string{"decide", events.AccessRefused}, []string{acts[0].Action, acts[0].Outcome})
}

package ui_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/auth"
)

// What was cut off before it was done is never answered with success: net/http
// sends an empty 200 for a handler that says nothing.
func TestACutRequestIsNoSuccess(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("a", "Write", `{}`)
	cookie, _, err := w.store.SignInWithToken(t.Context(), w.tokens["ben"])
	require.NoError(t, err)
	decide := "/requests/" + q.RequestID + "/decide"
	for _, c := range []struct {
		method, path string
		form         url.Values
	}{
		{http.MethodPost, "/sign-in", url.Values{"token": {w.tokens["ben"]}}},
		{http.MethodPost, "/sign-out", url.Values{}},
		{http.MethodPost, decide, url.Values{"verdict": {"decline"}, "digest": {string(q.Digest)}, "key": {"k"}}},
		{http.MethodGet, "/inbox", nil},
		{http.MethodGet, "/requests/" + q.RequestID, nil},
	} {
		ctx, cut := context.WithCancelCause(t.Context())
		cut(errors.New("the server stops"))
		r := httptest.NewRequestWithContext(ctx, c.method, "http://127.0.0.1"+c.path, strings.NewReader(c.form.Encode()))
		if c.form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r.AddCookie(&http.Cookie{Name: auth.Site{}.CookieName(r), Value: cookie})
		answer := httptest.NewRecorder()
		w.console.Handler().ServeHTTP(answer, r)
		require.Equal(t, http.StatusServiceUnavailable, answer.Code, "%s %s", c.method, c.path)
		require.Contains(t, answer.Body.String(), "what you sent may or may not be on the record", "%s %s", c.method, c.path)
	}
	require.Zero(t, w.gate.count())
}

package ui_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

func TestALinkSignsInByPostAlone(t *testing.T) {
	w := newWorld(t, nil)
	secret, _, err := w.store.NewLink(t.Context())
	require.NoError(t, err)
	p := w.stranger()
	for range 3 { // a mail scanner follows it
		a := p.get("/sign-in?link=" + secret)
		require.Equal(t, http.StatusOK, a.status)
		require.Empty(t, a.header["Set-Cookie"])
		require.Equal(t, secret, a.doc.Find("input[name=link]").AttrOr("value", ""))
	}
	a := p.post("/sign-in", url.Values{"link": {secret}, "next": {"/history"}})
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, "/history", a.header.Get("Location"))
	require.Contains(t, a.header.Get("Set-Cookie"), "HttpOnly")
	require.Equal(t, http.StatusOK, p.get("/history").status)

	again := w.stranger().post("/sign-in", url.Values{"link": {secret}})
	require.Equal(t, http.StatusUnauthorized, again.status)
	require.Contains(t, again.text("[role=alert]"), "used already or has expired")

	require.Equal(t, http.StatusSeeOther, p.post("/sign-out", url.Values{}).status)
	require.Equal(t, http.StatusUnauthorized, p.get("/history").status)
}

func TestWhoCannotSignIn(t *testing.T) {
	w := newWorld(t, nil)
	for name, c := range map[string]struct {
		token string
		want  int
		said  string
	}{
		"nobody's token":    {"countersign_nothing", http.StatusUnauthorized, "unknown or have expired"},
		"no token":          {"", http.StatusUnauthorized, "unknown or have expired"},
		"a program's token": {w.tokens["ci"], http.StatusForbidden, "belongs to a program"},
		"an agent's person": {w.tokens["mal"], http.StatusForbidden, "no business in the console"},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.stranger()
			a := p.post("/sign-in", url.Values{"token": {c.token}})
			require.Equal(t, c.want, a.status)
			require.Contains(t, a.text("[role=alert]"), c.said)
			require.Equal(t, http.StatusUnauthorized, p.get("/inbox").status)
		})
	}
	w.settle()
	log, err := w.views.AccessLog(t.Context(), projections.AccessFilter{}, "", 50)
	require.NoError(t, err)
	require.Len(t, log.Items, 3, "tries of one kind within a minute are one record")
	for _, a := range log.Items {
		require.Equal(t, []string{"sign-in", events.AccessRefused}, []string{a.Action, a.Outcome})
	}
}

func TestStrangersAreLedToSignIn(t *testing.T) {
	w, id := story(t)
	p := w.stranger()
	for _, path := range []string{"/inbox", "/inbox/queue", "/requests/" + id, "/requests/" + id + "/download", "/history", "/sessions", "/live", "/call?session=s1&batch=b1&index=0"} {
		a := p.get(path)
		require.Equal(t, http.StatusUnauthorized, a.status, path)
		require.NotContains(t, a.body, "Write", path)
		led := p.do(http.MethodGet, path, nil, map[string]string{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"})
		require.Equal(t, http.StatusSeeOther, led.status)
		require.Equal(t, "/sign-in?next="+url.QueryEscape(path), led.header.Get("Location"))
	}
	agent := p.do(http.MethodGet, "/inbox", nil, map[string]string{"Authorization": "Bearer " + w.tokens["ci"]})
	require.Equal(t, http.StatusForbidden, agent.status)
}

func TestNextStaysHere(t *testing.T) {
	w := newWorld(t, nil)
	for next, want := range map[string]string{
		"/requests/x?change=1": "/requests/x?change=1", "": "/inbox", "//evil.example": "/inbox", "https://evil.example/": "/inbox",
		`/\evil.example`: "/inbox", "/a/../..//evil.example": "/inbox", "javascript:alert(1)": "/inbox", "/\t/evil.example": "/inbox",
	} {
		a := w.stranger().post("/sign-in", url.Values{"token": {w.tokens["ben"]}, "next": {next}})
		require.Equal(t, want, a.header.Get("Location"), next)
	}
}

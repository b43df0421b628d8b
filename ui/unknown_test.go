package ui_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
	"github.com/countersign-dev/countersign/ui"
)

// built is a world whose views are in a file.
type built struct {
	*world

	path string
}

// building is a world whose views are being built from nothing, and stand still
// in it until release is called.
func building(t *testing.T, w *world, known projections.Gate) (b *built, release func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "views.db")
	held := &pt.Held{Log: w.log}
	come, release := held.Hold()
	views, err := projections.Open(t.Context(), projections.Options{
		Path: path, Source: held, RebuildBeyond: 1, Gate: known,
	})
	require.NoError(t, err)
	console, err := ui.New(ui.Options{
		Views: views, Decider: w.gate, Recorder: recorder{w.log}, Auth: w.store, Isolation: "none", Version: "v0.1.0", Declined: gate.DeclinedText,
		Clock: w.log.Now,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- views.Run(ctx) }()
	server := httptest.NewServer(console.Handler())
	t.Cleanup(func() {
		release()
		console.Stop()
		server.Close()
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, views.Close())
	})
	<-come
	other := *w
	other.views, other.console, other.server = views, console, server
	return &built{&other, path}, release
}

// While views are built from nothing no page counts what is there, or says that
// there is nothing: it says that nobody knows yet, and how far they are.
func TestPagesSayWhatIsNotKnownYet(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s-known", "Write", `{"path":"a"}`)
	richStory(w)
	b, release := building(t, w, nil)
	eve, ben := b.as("eve"), b.as("ben")
	unknown := []string{
		"/insights", "/insights?span=30d", "/tools", "/tools/view?name=Write", "/violations", "/sessions", "/sessions?watch=violations", "/history",
		"/history?q=path", "/access", "/requests/" + q.RequestID, "/requests/" + q.RequestID + "/state", "/sessions/s-known", "/session?id=s-known",
		"/at/0/3",
	}
	for _, path := range unknown {
		a := eve.get(path)
		require.Equal(t, http.StatusServiceUnavailable, a.status, path)
		require.Equal(t, "5", a.header.Get("Retry-After"), path)
		require.Contains(t, a.text("main h2"), "Not known yet", path)
		require.Regexp(t, `the views are being built anew: 0 of [\d,]+ records are read\. Deciding goes on`, a.text("main"), path)
		requireClean(t, a)
	}
	require.Equal(t, http.StatusServiceUnavailable, ben.get("/sessions/s-known").status, "whose it is nobody knows, so it is not refused")
	for _, list := range []string{"history", "access"} {
		a := eve.export("/"+list+"/export", "ndjson")
		require.Equal(t, http.StatusServiceUnavailable, a.status, list)
		require.NotContains(t, a.body, "trailer")
	}
	for path, want := range map[string]int{"/nowhere": http.StatusNotFound, "/history?x=1": http.StatusServiceUnavailable, "/keys": http.StatusOK} {
		require.Equal(t, want, eve.get(path).status, path)
	}

	inbox := ben.get("/inbox")
	require.Equal(t, http.StatusOK, inbox.status)
	require.Equal(t, "Not known yet", inbox.text(".idle h2"))
	require.Regexp(t, `The views are being built anew: 0 of [\d,]+ records are read\.`, inbox.text(".idle"))
	tag := ben.get("/inbox/queue").header.Get("ETag")
	system := eve.get("/system")
	require.Equal(t, http.StatusOK, system.status)
	require.Equal(t, []string{"not known yet", "0 records so far"}, []string{fact(system, "Requests that wait"), fact(system, "Set aside")})
	require.NotContains(t, system.text("main"), "None.")
	require.NotContains(t, system.text("main"), "The log is empty")
	require.NotContains(t, system.text("main"), "No policy is on the record")

	release()
	b.settle()
	for _, path := range unknown {
		require.Equal(t, http.StatusOK, eve.get(path).status, path)
	}
	require.Equal(t, http.StatusNotFound, eve.get("/requests/none").status)
	require.NotEqual(t, tag, ben.get("/inbox/queue").header.Get("ETag"))
	require.NotZero(t, ben.get("/inbox").doc.Find("a[href='/requests/"+q.RequestID+"']").Length())
	require.Equal(t, http.StatusOK, eve.export("/history/export", "ndjson").status)
}

// Unfinished implements projections.Gate.
func (g *stubGate) Unfinished() (ids []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range g.requests {
		ids = append(ids, q.Session)
	}
	return ids
}

// SessionOf implements projections.Gate.
func (g *stubGate) SessionOf(_ context.Context, request string) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.requests[request].Session, nil
}

// Deciding goes on while views are built from nothing: the inbox shows what the
// gate knows, its forms work, and each page tells what came of it.
func TestDecidingGoesOnWhileViewsAreBuilt(t *testing.T) {
	w := newWorld(t, nil)
	_, first := w.ask("s1", "Bash", `{"command":"ls"}`)
	_, second := w.ask("s2", "Write", `{"path":"a","content":"b"}`)
	b, _ := building(t, w, w.gate)
	ben := b.as("ben")
	queue := func() string { return ben.get("/inbox/queue").header.Get("ETag") }
	inbox := ben.get("/inbox")
	require.Equal(t, http.StatusOK, inbox.status)
	require.NotZero(t, inbox.doc.Find("a[href='/requests/"+second.RequestID+"']").Length())
	require.Contains(t, inbox.text(".banner"), "The views are being built")
	before := queue()
	form := inbox.fields("form.decide")
	form.Set("verdict", "approve")
	a := ben.post("/requests/"+first.RequestID+"/decide", form)
	require.Equal(t, http.StatusSeeOther, a.status, a.text("main"))
	require.Equal(t, first.Digest, w.gate.last().RequestDigest)
	require.Contains(t, ben.get("/requests/"+first.RequestID).text(".outcome"), "Approved by")
	require.NotEqual(t, before, queue(), "the list of what waits has moved")

	form = ben.get("/requests/" + second.RequestID).fields("form.decide")
	form.Set("verdict", "decline")
	require.Equal(t, http.StatusSeeOther, ben.post("/requests/"+second.RequestID+"/decide", form).status)
	idle := ben.get("/inbox").text(".idle")
	require.Contains(t, idle, "Nothing waits")
	require.Contains(t, idle, "The gate says so. The views are being built anew: 0 of ")
	require.NotContains(t, idle, "up to date")
	require.Equal(t, http.StatusServiceUnavailable, ben.get("/requests/unknown").status)
	require.Zero(t, b.views.Status().Records, "all that while nothing was read")
}

// An export during which the views were given up has no trailer: what it read
// since then may not be all.
func TestAnExportThatLosesItsViewsIsNotComplete(t *testing.T) {
	w := newWorld(t, nil)
	run := w.log.Run("s1", "carla", "go")
	for i := range 80 { // more than sockets hold
		w.log.Propose("s1", run, "b1", i, "Write", strings.Repeat("x", 200_000), events.EffectAllow)
	}
	b, release := building(t, w, nil)
	release()
	b.settle()
	body := openExport(t, b.as("eve"), "/history/export", "ndjson")
	defer body.Close()
	_, err := io.CopyN(io.Discard, body, 1<<20)
	require.NoError(t, err)
	require.NoError(t, os.Remove(b.path))
	for status, changed := b.views.Changed(); status.Lost == 0; status, changed = b.views.Changed() {
		select {
		case <-changed:
		case <-time.After(30 * time.Second):
			t.Fatal("nobody saw that the file is gone")
		}
	}
	rest, err := io.ReadAll(body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotContains(t, string(rest), `"trailer"`)
}

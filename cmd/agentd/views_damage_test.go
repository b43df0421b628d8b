package main_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// readiness is the body of /readyz.
type readiness struct {
	Status string
	Parts  []struct {
		Name       string
		OK, Needed bool
		Reason     string
	}
}

// ready asks /readyz, and returns whether the views are well.
func (w *person) ready() (views bool) {
	w.t.Helper()
	status, body := w.get("/readyz")
	require.Equal(w.t, http.StatusOK, status, "the log takes work: %s", body)
	var r readiness
	require.NoError(w.t, json.Unmarshal([]byte(body), &r))
	require.Len(w.t, r.Parts, 2)
	require.Equal(w.t, []any{"log", true, true, "views", false}, []any{r.Parts[0].Name, r.Parts[0].OK, r.Parts[0].Needed, r.Parts[1].Name, r.Parts[1].Needed})
	require.Equal(w.t, r.Parts[1].OK, r.Parts[1].Reason == "", body)
	return r.Parts[1].OK
}

// Whatever is done to views.db under an agentd that serves, no page fails: it
// answers, or says that it does not know yet; and the views come back.
func TestPagesDoNotFailWhateverBecomesOfTheViews(t *testing.T) {
	dir := t.TempDir()
	require.Zero(t, agentd(t, dir, nil, "generate", "--data-dir", "data", "--events", "5000").code)
	p := launch(t, dir, "--data-dir", "data", "--addr", "127.0.0.1:0")
	who := p.signIn()
	path := filepath.Join(dir, "data", "views.db")
	pages := []string{"/inbox", "/history", "/sessions", "/insights", "/tools", "/violations", "/access", "/system"}
	for _, c := range []struct {
		name  string
		spoil func()
	}{
		{"noise", func() {
			noise := make([]byte, 2<<20)
			_, _ = rand.Read(noise)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.Write(noise)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}},
		{"deleted", func() { require.NoError(t, os.Remove(path)) }},
	} {
		until(t, c.name, who.ready, p.errs.String)
		begun := strings.Count(p.errs.String(), "views are made anew")
		c.spoil()
		asked := 0
		until(t, c.name, func() bool {
			asked++ // a new search is on the record, so that the file is read and written again
			for _, page := range append(pages, fmt.Sprint("/history?q=search+", asked)) {
				status, body := who.get(page)
				if status != http.StatusOK {
					require.Equal(t, http.StatusServiceUnavailable, status, "%s: %s", page, body)
					require.Contains(t, body, "Not known yet", page)
				}
			}
			return strings.Count(p.errs.String(), "views are made anew") > begun && who.ready()
		}, p.errs.String)
		for _, page := range pages {
			status, _ := who.get(page)
			require.Equal(t, http.StatusOK, status, "%s, after: %s", page, c.name)
		}
	}
	code, _ := p.stop()
	require.Zero(t, code, "%s", p.errs)
}

// until asks until something holds.
func until(t *testing.T, what string, holds func() bool, why func() string) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(90 * time.Second); !holds(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("it does not come about: %s\n%s", what, why())
		}
	}
}

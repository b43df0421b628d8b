package main_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// watched is a home whose log's head is noted outside of its data.
func watched(t *testing.T) *home {
	t.Helper()
	h := newHome(t)
	require.NoError(t, os.Mkdir(h.path("elsewhere"), 0o700))
	h.configure("head-file: elsewhere/head.json\n")
	return h
}

// keep copies the data of an agentd that has stopped.
func (h *home) keep() {
	h.t.Helper()
	require.NoError(h.t, os.CopyFS(h.path("backup"), os.DirFS(h.path("data"))))
}

// putBack puts the copy in the place of the data: all files, or some.
func (h *home) putBack(files ...string) {
	h.t.Helper()
	if len(files) == 0 {
		require.NoError(h.t, os.RemoveAll(h.path("data")))
		require.NoError(h.t, os.CopyFS(h.path("data"), os.DirFS(h.path("backup"))))
	}
	for _, name := range files {
		for _, suffix := range []string{"-wal", "-shm"} {
			_ = os.Remove(h.path("data", name+suffix)) // of the newer one, where it is left
		}
		b, err := os.ReadFile(h.path("backup", name))
		require.NoError(h.t, err)
		require.NoError(h.t, os.WriteFile(h.path("data", name), b, 0o600))
	}
}

// stops stops an agentd that must end as asked.
func (p *process) stops() {
	p.t.Helper()
	code, _ := p.stop()
	require.Zero(p.t, code, "%s", p.errs)
}

// refuses asks for something that must be answered with a status and a word.
func (c client) refuses(t *testing.T, method, path string, body any, status int, word string) {
	t.Helper()
	resp, err := c.send(t.Context(), method, path, body)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, status, resp.StatusCode, "%s", b)
	require.Contains(t, string(b), word)
}

// A data directory is put back from a copy that was made before a call was
// approved and ran. What remembers more makes agentd read only: nothing is
// recorded, decided or run. Once the loss is accepted, the call ends as one that
// may have run, is not run again, and the model is told.
func TestADataDirectoryThatIsPutBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string // that are put back; none: all
		noted bool     // the head is noted outside
		found string
	}{
		{"whole, and the head was noted", nil, true, "the journal in DIR/data has "},
		{"the journal alone, and gate.db knows", []string{"journal.db"}, false, "gate.db beside it remembers "},
		{"the journal alone, and the head was noted", []string{"journal.db"}, true, "DIR/elsewhere/head.json remembers "},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t)
			if c.noted {
				h = watched(t)
			}
			query := plan{{count("Count", "first"), count("Tally", "free")}}.query()
			p := h.start()
			s := p.as(agentToken).begin(t, query)
			request := s.until(t, "approval_request").RequestID
			p.stops()
			h.keep()

			p = h.start()
			again := p.as(agentToken).resume(t, s.conversation)
			p.as(aliceToken).approve(t, request)
			require.Equal(t, "STOP", again.rest(t).Reason)
			p.stops()
			ran := h.executions()
			require.Len(t, ran, 2)
			h.putBack(c.files...)
			had := readLog(t, h.path("data", "journal.db")).last().row

			readsOnly(t, h, request, c.found)
			require.Equal(t, had, readLog(t, h.path("data", "journal.db")).last().row, "nothing was recorded")
			readsOnly(t, h, request, c.found) // it stays so
			recovers(t, h, had)

			p = h.start()
			p.as("").refuses(t, http.MethodGet, "/readyz", nil, http.StatusOK, "ready")
			next := plan{{count("Tally", "next")}}.query()
			after, err := p.as(agentToken).chat(t.Context(), s.conversation, next)
			require.NoError(t, err)
			require.Equal(t, "STOP", after.rest(t).Reason)
			require.Contains(t, h.model.told(query, callID(0, 0)), "may have been started", "the model is told")
			require.Equal(t, append(ran, `{"key":"next"}`), h.executions(), "nothing ran a second time")
			p.stops()
		})
	}
}

// readsOnly starts agentd, which must find the rollback, and stops it.
func readsOnly(t *testing.T, h *home, request, found string) {
	t.Helper()
	p := h.start()
	said := strings.ReplaceAll(p.said(`Reading only: .*`), h.dir, "DIR")
	require.Contains(t, said, found)
	p.as("").refuses(t, http.MethodGet, "/readyz", nil, http.StatusServiceUnavailable, "rolled back")
	p.as("").refuses(t, http.MethodGet, "/healthz", nil, http.StatusOK, "ok")
	p.as("").refuses(t, http.MethodGet, "/metrics", nil, http.StatusOK, "countersign_log_read_only 1")
	p.as(agentToken).refuses(t, http.MethodPost, "/chat/stream", map[string]string{"query": "hello"}, http.StatusServiceUnavailable, "read_only")
	p.as(aliceToken).refuses(t, http.MethodPost, "/chat/approval", map[string]string{"requestId": request, "decision": "approve"},
		http.StatusServiceUnavailable, "read_only")
	alice := newPerson(t, p.base)
	status, page := alice.post("/sign-in", map[string][]string{"token": {aliceToken}, "next": {""}})
	require.Equal(t, http.StatusOK, status, page)
	require.Contains(t, page, "Reading only: ")
	page = alice.page("/requests/" + request)
	require.Contains(t, page, "Reading only: ")
	require.Contains(t, page, "You cannot decide this.")
	status, page = alice.post("/requests/"+request+"/decide", map[string][]string{"verdict": {"approve"}, "digest": {"x"}, "key": {"k"}})
	require.Equal(t, http.StatusServiceUnavailable, status, page)
	locked := agentd(t, h.dir, nil, "recover", "--config", "agentd.yaml")
	require.Equal(t, failed, locked.code)
	require.Contains(t, locked.stderr, "stop it first")
	p.stops()
}

// recovers looks at what accepting the loss would do, accepts it, and finds
// nothing more to accept.
func recovers(t *testing.T, h *home, had int64) {
	t.Helper()
	look := agentd(t, h.dir, nil, "recover", "--config", "agentd.yaml")
	require.Zero(t, look.code, look.stderr)
	require.Contains(t, look.out, "Nothing was changed.")
	require.Regexp(t, `(?m)^  pending  Count `, look.out)
	require.Regexp(t, `(?m)^  free     Tally `, look.out)
	require.Equal(t, had, readLog(t, h.path("data", "journal.db")).last().row)

	done := agentd(t, h.dir, nil, "recover", "--config", "agentd.yaml", "--accept-rollback")
	require.Zero(t, done.code, done.stderr)
	require.Contains(t, done.out, "Accepted: 2 calls that may have run end as ambiguous, 0 others as what had ended them, and 1 runs with an error.")
	l := readLog(t, h.path("data", "journal.db"))
	told := l.entries[had+1].event.(*events.Recovered)
	require.NotNil(t, told.Rollback, "what was found stands first, after the boot")
	require.Empty(t, l.entries[had+1].SessionID)
	results := all[*events.ToolResult](l)
	require.Len(t, results, 2)
	for _, r := range results {
		require.Equal(t, events.StatusAmbiguous, r.Status)
		require.Equal(t, events.CauseExecutorLost, r.Cause)
	}
	ends := all[*events.RunFinished](l)
	require.Len(t, ends, 1)
	require.Equal(t, events.CodeRolledBack, ends[0].Code)

	nothing := agentd(t, h.dir, nil, "recover", "--config", "agentd.yaml", "--accept-rollback")
	require.Zero(t, nothing.code, nothing.stderr)
	require.Contains(t, nothing.out, "There is nothing to recover")
	require.Len(t, readLog(t, h.path("data", "journal.db")).entries, len(l.entries))
}

// What is no rollback: agentd was killed after it had recorded something and
// before it noted that; a copy of the note itself was put back; and the first use
// of a head file, which is said and recorded.
func TestANoteThatIsBehindTheLog(t *testing.T) {
	h := newHome(t)
	p := h.start()
	p.as(agentToken).begin(t, plan{{count("Tally", "one")}}.query()).rest(t)
	p.stops()
	require.NoError(t, os.Mkdir(h.path("elsewhere"), 0o700))
	h.configure("head-file: elsewhere/head.json\n")
	first := func() (n int) {
		for _, a := range all[*events.Access](readLog(t, h.path("data", "journal.db"))) {
			if a.Action == "note-head" {
				n++
			}
		}
		return n
	}

	p = h.start()
	eventually(t, "the head is noted", func() bool { _, err := os.Stat(h.path("elsewhere", "head.json")); return err == nil })
	old, err := os.ReadFile(h.path("elsewhere", "head.json"))
	require.NoError(t, err)
	p.as(agentToken).begin(t, plan{{count("Tally", "two")}}.query()).rest(t)
	p.kill()
	require.Contains(t, p.errs.String(), "had not been noted before")
	require.NoError(t, os.WriteFile(h.path("elsewhere", "head.json"), old, 0o600))

	p = h.start()
	p.as("").refuses(t, http.MethodGet, "/readyz", nil, http.StatusOK, "ready")
	p.stops()
	require.Equal(t, 1, first(), "the first use is on the record, once")
	names, err := filepath.Glob(h.path("elsewhere", ".*"))
	require.NoError(t, err)
	require.Empty(t, names, "nothing is left of writing it")
}

// A head file that cannot be read, or has nowhere to be, is no reason to go on
// without it.
func TestHeadFileRefused(t *testing.T) {
	h := watched(t)
	h.start().stops()
	note, err := os.ReadFile(h.path("elsewhere", "head.json"))
	require.NoError(t, err)
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", "the head file is damaged: DIR/elsewhere/head.json: "},
		"cut":              {string(note[:len(note)/2]), "the head file is damaged: DIR/elsewhere/head.json: "},
		"no hash":          {strings.Replace(string(note), `"last": "`, `"last": "x`, 1), "is not a hash"},
		"another count":    {strings.Replace(string(note), `"rows": `, `"rows": 1`, 1), "its partitions have"},
		"a strange member": {strings.Replace(string(note), `"rows"`, `"lines"`, 1), "the head file is damaged"},
	} {
		require.NoError(t, os.WriteFile(h.path("elsewhere", "head.json"), []byte(c.text), 0o600), name)
		line := refused(t, h.dir, failed, nil, "serve", "--config", "agentd.yaml")
		require.Contains(t, line, c.want, name)
		require.Contains(t, line, "put it back from a copy, or remove it", name)
	}
	require.NoError(t, os.RemoveAll(h.path("elsewhere")))
	require.Contains(t, refused(t, h.dir, failed, nil, "serve", "--config", "agentd.yaml"), "its folder DIR/elsewhere is not there: make it, or mount the disk")
	h.configure("head-file: data/head.json\n")
	line := refused(t, h.dir, wrongConfiguration, nil, "serve", "--config", "agentd.yaml")
	require.Contains(t, line, "key head-file: expected a file outside of the data directory")
}

// That the head cannot be noted hurts nothing: it is said, counted and told, and
// calls go on.
func TestAHeadFileThatCannotBeWritten(t *testing.T) {
	h := watched(t)
	p := h.start()
	require.NoError(t, os.Rename(h.path("elsewhere"), h.path("unmounted")))
	work := func(key string) {
		require.Equal(t, "STOP", p.as(agentToken).begin(t, plan{{count("Tally", key)}}.query()).rest(t).Reason)
	}
	work("one")
	ready := func() string {
		resp, err := p.as("").send(t.Context(), http.MethodGet, "/readyz", nil)
		require.NoError(t, err)
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		return string(b)
	}
	eventually(t, "it is told", func() bool { return strings.Contains(ready(), "cannot be noted in head-file") })
	require.Contains(t, p.errs.String(), "could not be noted")
	resp, err := p.as("").send(t.Context(), http.MethodGet, "/metrics", nil)
	require.NoError(t, err)
	metrics, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Regexp(t, `(?m)^countersign_head_note_failures_total [1-9]`, string(metrics))
	work("two")
	require.NoError(t, os.Rename(h.path("unmounted"), h.path("elsewhere")))
	eventually(t, "it is noted again", func() bool { return !strings.Contains(ready(), "notes") })
	p.stops()
	h.start().stops()
}

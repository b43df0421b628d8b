package main_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// heardAtStop is an answer that came while agentd stopped.
type heardAtStop struct {
	what, id string
	status   int
	kind     string // Content-Type
	body     string
}

// Whoever sends something just as agentd stops learns what became of it: done,
// or not done, or no answer; never success for what is not in the log.
func TestAnswersWhileStopping(t *testing.T) {
	h := newHome(t)
	const rounds, each = 4, 16
	for range rounds {
		p := h.start()
		requests := make([]string, each)
		for i := range requests {
			requests[i] = p.as(agentToken).begin(t, plan{{count("Count", "x")}}.query()).until(t, "approval_request").RequestID
		}
		answers := p.stopUnder(requests)
		l := readLog(t, h.path("data", "journal.db"))
		declined := map[string]bool{}
		for _, d := range all[*events.Decision](l) {
			declined[d.RequestID] = true
		}
		for _, a := range answers {
			require.Contains(t, []int{http.StatusOK, http.StatusSeeOther, http.StatusServiceUnavailable}, a.status, "%+v", a)
			if a.status == http.StatusServiceUnavailable {
				require.NotEmpty(t, a.body, "%+v", a)
				continue
			}
			switch a.what {
			case "decide":
				require.Contains(t, a.body, `"accepted":true`)
				require.True(t, declined[a.id], "%+v", a)
			case "chat":
				require.Equal(t, "text/event-stream", a.kind, "%+v", a)
				require.Contains(t, a.body, "data: ", "%+v", a)
			}
		}
	}
}

// stopUnder stops agentd while many requests of each kind come in.
func (p *process) stopUnder(requests []string) []heardAtStop {
	p.t.Helper()
	var mu sync.Mutex
	var answers []heardAtStop
	var senders sync.WaitGroup
	send := func(what, id string, after time.Duration, do func() (*http.Response, error)) {
		senders.Go(func() {
			<-time.After(after)
			resp, err := do()
			if err != nil {
				return // nobody was told anything
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				return // what was told has no end, and so no meaning
			}
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, heardAtStop{what, id, resp.StatusCode, resp.Header.Get("Content-Type"), string(b)})
		})
	}
	form := url.Values{"token": {aliceToken}}.Encode()
	for i, id := range requests {
		after := time.Duration(i) * 3 * time.Millisecond
		send("decide", id, after, func() (*http.Response, error) {
			return p.as(aliceToken).send(p.t.Context(), http.MethodPost, "/chat/approval", map[string]string{"requestId": id, "decision": "decline"})
		})
		send("chat", id, after, func() (*http.Response, error) {
			return p.as(agentToken).send(p.t.Context(), http.MethodPost, "/chat/stream", map[string]string{"query": plan{}.query()})
		})
		send("sign-in", id, after, func() (*http.Response, error) {
			r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+"/sign-in", strings.NewReader(form))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return http.DefaultTransport.RoundTrip(r)
		})
	}
	<-time.After(20 * time.Millisecond)
	code, _ := p.stop()
	require.Zero(p.t, code, p.errs)
	senders.Wait()
	return answers
}

// Being stopped while it starts is no failure of agentd, however far it was.
func TestStoppedWhileItStarts(t *testing.T) {
	h := newHome(t)
	h.start().stop()
	for i := range 30 {
		cmd := exec.CommandContext(t.Context(), os.Getenv(binaryEnv), "serve", "--config", "agentd.yaml")
		var stderr strings.Builder
		cmd.Dir, cmd.Env, cmd.Stderr = h.dir, environment(), &stderr
		require.NoError(t, cmd.Start())
		<-time.After(time.Duration(i) * 2 * time.Millisecond)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait() // how it ended is in ProcessState
		state := cmd.ProcessState.Sys().(syscall.WaitStatus)
		ended := state.Exited() && state.ExitStatus() == 0
		early := state.Signaled() && state.Signal() == syscall.SIGTERM // before main ran
		require.True(t, ended || early, "after %d ms: %v\n%s", i*2, cmd.ProcessState, &stderr)
	}
}

// A folder in which the control socket cannot be made is refused before
// anything is made.
func TestALongDataDirectory(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("long/", 30) + "data"
	said := refused(t, dir, wrongConfiguration, nil, "--data-dir", long)
	require.Contains(t, said, "agentd: flag -data-dir: expected a path of at most ")
	require.Contains(t, said, "choose another folder")
	require.NoDirExists(t, dir+"/long")
}

// An agentd in memory touches nothing of a data directory, which another may
// use.
func TestMemoryTouchesNoDataDirectory(t *testing.T) {
	h := newHome(t)
	h.write("agentd.yaml", "addr: 127.0.0.1:0\nmodels: [{name: stub, provider: openai, base-url: "+h.model.url()+", model: stub}]\n", 0o600)
	first := h.start()
	token, err := os.ReadFile(h.path("data", "token"))
	require.NoError(t, err)
	files := func() (names []string) {
		entries, err := os.ReadDir(h.path("data"))
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	before := files()

	second := launch(t, h.dir, "serve", "--config", "agentd.yaml", "--bus", "memory")
	own := strings.TrimSuffix(strings.TrimPrefix(second.said(`Programs chat with the token in \S+/token`), "Programs chat with the token in "), "/token")
	require.NotEqual(t, h.path("data"), own)
	other, err := os.ReadFile(own + "/token")
	require.NoError(t, err)
	require.NotEqual(t, token, other)
	require.Equal(t, before, files())
	for p, folder := range map[*process]string{first: h.path("data"), second: own} {
		link := agentd(t, h.dir, nil, "sign-in", "--data-dir", folder)
		require.Zero(t, link.code, link.stderr)
		require.Contains(t, link.out, p.console())
	}
	code, _ := second.stop()
	require.Zero(t, code, second.errs)
	require.NoDirExists(t, own)

	now, err := os.ReadFile(h.path("data", "token"))
	require.NoError(t, err)
	require.Equal(t, token, now)
	require.Zero(t, agentd(t, h.dir, nil, "sign-in", "--config", "agentd.yaml").code)
	first.as(strings.TrimSpace(string(now))).begin(t, plan{}.query()).rest(t)
	first.stop()
}

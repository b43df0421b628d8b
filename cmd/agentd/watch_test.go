package main_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// watchOf waits until the watch has read the whole log, and returns what it
// found: violations, and starts by finding.
func watchOf(t *testing.T, p *process) (violations int, starts map[string]int) {
	t.Helper()
	var text string
	eventually(t, "the views have caught up", func() bool {
		text = metricsOf(t, p)
		return strings.Contains(text, "countersign_projection_lag_events{projection=\"audit\"} 0\n") && strings.Contains(text, "countersign_watch_starts_total")
	})
	starts = map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^countersign_gate_invariant_violations_total\{.*\} (\d+)$`).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		violations += n
	}
	for _, m := range regexp.MustCompile(`(?m)^countersign_watch_starts_total\{finding="(\w+)"\} (\d+)$`).FindAllStringSubmatch(text, -1) {
		starts[m[1]], _ = strconv.Atoi(m[2])
	}
	require.Len(t, starts, 4, text)
	return violations, starts
}

func metricsOf(t *testing.T, p *process) string {
	t.Helper()
	resp, err := p.as("").send(t.Context(), http.MethodGet, "/metrics", nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(b)
}

// quiet holds that the watch judged starts and found nothing wrong with any.
func quiet(t *testing.T, p *process, atLeast int) {
	t.Helper()
	violations, starts := watchOf(t, p)
	require.Zero(t, violations)
	require.Zero(t, starts["violation"])
	require.Zero(t, starts["unverified"], "the log holds the policy of each start")
	require.Zero(t, starts["unenforced"], "our executor runs all of them")
	require.GreaterOrEqual(t, starts["good"], atLeast, "the watch judged nothing: the test tests nothing")
}

// The watch must not cry wolf over what agentd itself writes.
func TestTheWatchIsQuiet(t *testing.T) {
	t.Run("over a generated log", func(t *testing.T) {
		dir := t.TempDir()
		made := agentd(t, dir, environment(), "generate", "--events", "6000", "--days", "3")
		require.Zero(t, made.code, made.stderr)
		quiet(t, launch(t, dir, "serve", "--addr", "127.0.0.1:0"), 500)
	})
	t.Run("over the demo", func(t *testing.T) {
		p := launch(t, t.TempDir(), "demo", "--dir", "demo", "--addr", "127.0.0.1:0")
		eventually(t, "something ran", func() bool {
			violations, starts := watchOf(t, p)
			require.Zero(t, violations)
			return starts["good"] > 0
		})
		quiet(t, p, 1)
	})
}

// M42, from outside: a start that somebody wrote into the log by hand, of a call
// that waits for approval, raises the counter by one.
func TestAnExecutionByHandRaisesTheCounter(t *testing.T) {
	h := newHome(t)
	p := h.start()
	s := p.as(agentToken).begin(t, plan{{count("Count", "by-hand")}}.query())
	s.until(t, "approval_request")
	code, _ := p.stop()
	require.Zero(t, code)
	forge(t, h)

	p = h.start()
	violations, _ := watchOf(t, p)
	require.Equal(t, 1, violations)
	require.False(t, h.executed(`{"key":"by-hand"}`), "the log says so; nothing ran")
}

// forge appends a start of the last call that asks.
func forge(t *testing.T, h *home) {
	t.Helper()
	l := readLog(t, h.path("data", "journal.db"))
	asked := all[*events.ApprovalRequest](l)
	require.NotEmpty(t, asked)
	q := asked[len(asked)-1]
	var session string
	var digest events.Digest
	for _, e := range l.entries {
		if e.event == events.Event(q) {
			session, digest = e.SessionID, e.digest
		}
	}
	minted, err := events.NewMinter("intruder/1", time.Now).Mint(events.Draft{Session: session, Data: &events.ToolStarted{
		CallKey: q.CallKey, Tool: q.Tool, Warrant: events.Warrant{Kind: events.WarrantDecision, Decision: events.NewID()}, RequestDigest: digest,
		Arguments: q.Arguments, Executor: "intruder", Enforcement: events.Enforced, Isolation: "none",
	}})
	require.NoError(t, err)
	appendByHand(t, h.path("data", "journal.db"), minted[0])
}

// appendByHand writes to the journal as who holds its lock can.
func appendByHand(t *testing.T, path string, m events.Minted) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Options{Path: filepath.Clean(path), Names: func(b []byte) (string, string, error) {
		e, err := events.DecodeEnvelope(b)
		return e.ID, e.SessionID, err
	}})
	require.NoError(t, err)
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { done <- j.Run(ctx) }()
	_, err = j.Append(t.Context(), journal.Ends, journal.Entry{ID: m.ID, Session: m.Session, Type: string(m.Type), Envelope: m.Envelope})
	require.NoError(t, err)
	stop()
	require.NoError(t, <-done)
	require.NoError(t, j.Close())
}

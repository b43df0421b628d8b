package gate_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// at opens a gate with its own file.
func at(t *testing.T, log *memLog, boot, path string) *house {
	t.Helper()
	return openWith(t, log, time.Minute, func(o *gate.Options) { o.Boot, o.Path = boot, path })
}

// Invariant 4: whatever became of gate.db, a restart finds what the log holds.
func TestARestartWithAnyGateFile(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string, early []byte, rows int)
	}{
		{"as it was", func(*testing.T, string, []byte, int) {}},
		{"missing", func(t *testing.T, path string, _ []byte, _ int) { require.NoError(t, os.Remove(path)) }},
		{"empty", func(t *testing.T, path string, _ []byte, _ int) { require.NoError(t, os.WriteFile(path, nil, 0o600)) }},
		{"garbage", func(t *testing.T, path string, _ []byte, _ int) {
			require.NoError(t, os.WriteFile(path, []byte("not a database, and longer than a header of one would be: "+fmt.Sprint(make([]int, 999))), 0o600))
		}},
		{"a few bytes", func(t *testing.T, path string, _ []byte, _ int) {
			require.NoError(t, os.WriteFile(path, []byte("SQLite"), 0o600))
		}},
		{"damaged beyond its first page", func(t *testing.T, path string, _ []byte, _ int) {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			for i := 4096; i < len(b); i++ {
				b[i] = 0xAA
			}
			require.NoError(t, os.WriteFile(path, b, 0o600))
		}},
		{"behind: killed before the last writes", func(t *testing.T, path string, early []byte, _ int) {
			require.NoError(t, os.WriteFile(path, early, 0o600))
		}},
		{"ahead of the log", func(t *testing.T, path string, _ []byte, _ int) { execute(t, path, "UPDATE position SET row = 1000") }},
		{"of another log, which is as long", func(t *testing.T, path string, _ []byte, rows int) {
			require.NoError(t, os.Remove(path))
			other := newMemLog(time.Now)
			h := at(t, other, "b1", path)
			for n := 0; len(other.all()) < rows; n++ {
				h.propose(t, fmt.Sprint("other", n), "Read")
			}
			h.stop()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, path := newMemLog(time.Now), filepath.Join(t.TempDir(), "gate.db")
			h := at(t, log, "b1", path)
			h.propose(t, "old", "Read")
			var ran atomic.Int32
			h.carry(t, "old", 0, ok(&ran))
			h.stop()
			early, err := os.ReadFile(path)
			require.NoError(t, err)
			h = at(t, log, "b2", path)
			h.propose(t, "s", "Bash", "Bash")
			h.propose(t, "waits", "Bash")
			before := h.request(t, "s", 0)
			h.accepted(t, ruling(h.request(t, "s", 1), events.VerdictApprove, alice))
			h.stop()
			c.change(t, path, early, len(log.all()))

			h = at(t, log, "b3", path)
			require.Equal(t, before, h.request(t, "s", 0))
			h.accepted(t, ruling(before, events.VerdictApprove, bob))
			require.Contains(t, h.refused(t, ruling(before, events.VerdictDecline, alice)), "approved by Bob")
			for i := range 2 {
				h.carry(t, "s", i, ok(&ran))
			}
			require.EqualValues(t, 3, ran.Load())
			require.Equal(t, []string{"waits"}, h.Unfinished())
			h.propose(t, "s2", "Read")
			h.carry(t, "s2", 0, ok(&ran))
		})
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	one(t, db.Write, statement)
	require.NoError(t, db.Close())
}

func one(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

// A file of a newer version, or of another program, is refused and stays as it
// is.
func TestGateFilesThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, statement string
		want            error
	}{
		{"newer", "PRAGMA user_version = 99", sqlite.ErrNewer},
		{"another program's", "PRAGMA application_id = 7", sqlite.ErrForeign},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, path := newMemLog(time.Now), filepath.Join(t.TempDir(), "gate.db")
			at(t, log, "b1", path).stop()
			execute(t, path, c.statement)
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = build(t.Context(), log, time.Minute, func(o *gate.Options) { o.Path = path })
			require.ErrorIs(t, err, c.want)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

// A decision finds its request at any moment: while gate.db is being written,
// after it was, after a restart.
func TestARequestIsFoundAtOnce(t *testing.T) {
	log, path := newMemLog(time.Now), filepath.Join(t.TempDir(), "gate.db")
	h := at(t, log, "b1", path)
	deadline := time.Now().Add(3 * 100 * time.Millisecond) // three times the gap between writes
	n := 0
	for ; time.Now().Before(deadline); n++ {
		session := fmt.Sprint("s", n)
		h.propose(t, session, "Bash")
		h.accepted(t, ruling(h.request(t, session, 0), events.VerdictDecline, alice))
		var ran atomic.Int32
		h.carry(t, session, 0, ok(&ran))
	}
	h.stop()
	h = at(t, log, "b2", path)
	require.Contains(t, h.refused(t, ruling(h.request(t, "s0", 0), events.VerdictApprove, bob)), "declined by Alice", "one that ended long ago")
	require.Contains(t, h.refused(t, gate.Ruling{RequestID: "nobody's", Verdict: events.VerdictApprove, Actor: bob, Via: "test"}), "no such request")
	require.Contains(t, h.refused(t, gate.Ruling{RequestID: "nobody's", Verdict: events.VerdictApprove, IdempotencyKey: "k", Via: "test"}), "no such request", "without an actor")
}

// Invariant 3: what an earlier process had started is never started again, and
// is told as ambiguous; what another node runs is left alone.
func TestStartsOfProcessesThatAreGone(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	calls := slices.Repeat([]string{"Read"}, 150) // more than one event names
	h.propose(t, "s", calls...)
	h.propose(t, "elsewhere", "Read")
	h.stop()
	log.startByHand(t, "s", "n/b1")
	log.startByHand(t, "elsewhere", "m/b1")

	h = open(t, log, "b2", time.Minute)
	for i := range calls {
		var ran atomic.Int32
		r, text := h.carry(t, "s", i, ok(&ran))
		require.Zero(t, ran.Load())
		require.Equal(t, events.StatusAmbiguous, r.Status)
		require.Equal(t, events.CauseExecutorLost, r.Cause)
		require.Contains(t, text, "unknown")
	}
	require.Equal(t, []string{"elsewhere"}, h.Unfinished())
	require.Equal(t, 3, log.count(events.TypeRecovered))
}

// startByHand records the starts of a session's free calls by some executor.
func (l *memLog) startByHand(t *testing.T, session, executor string) {
	t.Helper()
	s := fold.NewSession(session)
	for _, e := range l.all() {
		if r := fold.Decode(e.Record); r.Envelope.SessionID == session {
			s.Apply(r)
		}
	}
	for _, c := range s.Calls {
		_, err := l.as(hand).Append(t.Context(), events.Draft{Session: session, Data: &events.ToolStarted{
			CallKey: c.CallKey, Tool: c.Tool, Warrant: events.Warrant{Kind: events.WarrantRule, Rule: c.Rule, PolicyDigest: c.PolicyDigest},
			RequestDigest: c.Digest, Arguments: c.Arguments.CarriedBy(c.EventID), Executor: executor, Enforcement: events.Enforced, Isolation: "none",
		}})
		require.NoError(t, err)
	}
}

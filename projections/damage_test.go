package projections_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/projections"
)

// Bytes that are flipped anywhere in the file: each query answers or fails, and
// what finds the damage has the views made anew.
func TestFlippedBytesAreFoundByQueries(t *testing.T) {
	l := busyLog(t, 40)
	path, want := made(t, l)
	flip(t, path, "calls")
	v := open(t, path, l)
	_, err := v.History(t.Context(), all(projections.Filter{}), "", 50)
	require.True(t, sqlite.IsCorrupt(err), "%v", err)
	follow(t, v, l.Len())
	waitFor(t, v, func() bool {
		page, err := v.History(t.Context(), all(projections.Filter{}), "", 50)
		return err == nil && len(page.Items) == 50
	})
	require.NoError(t, v.Close())
	require.Equal(t, want, dump(t, path))
}

// Whichever query comes by the damage reports it, also one that asks for a
// single value.
func TestEveryQueryReportsDamage(t *testing.T) {
	l := busyLog(t, 40)
	ben, now := projections.Reader{Person: "ben", Reviewer: true}, l.Now()
	l.Protected("session-0", "run-session-0", "b2", 0, "Write", "{}") // waits
	for table, ask := range map[string]func(*projections.Views) error{
		"sessions_id": func(v *projections.Views) error {
			_, err := v.MayRead(t.Context(), ben, "session-1")
			return err
		},
		"asked_session": func(v *projections.Views) error {
			_, err := v.CountPending(t.Context(), ben)
			return err
		},
		"access_viewed": func(v *projections.Views) error {
			_, err := v.Acted(t.Context(), "ben", "view", "r", now)
			return err
		},
		"calls_key": func(v *projections.Views) error {
			_, err := v.Notices(t.Context(), 0, int64(l.Len()), 10)
			return err
		},
	} {
		t.Run(table, func(t *testing.T) {
			path, want := made(t, l)
			flip(t, path, table)
			v := open(t, path, l)
			err := ask(v)
			require.True(t, sqlite.IsCorrupt(err), "%v", err)
			require.ErrorIs(t, err, projections.ErrDamaged)
			waitFor(t, v, func() bool { return v.Status().Lost == 1 && v.Status().CaughtUp && ask(v) == nil })
			require.NoError(t, v.Close())
			require.Equal(t, want, dump(t, path))
		})
	}
}

// flip damages the first page of a table or index.
func flip(t *testing.T, path, table string) {
	t.Helper()
	const pageBytes, flipped = 4096, 2000
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	begin := (rootOf(t, path, table) - 1) * pageBytes
	for i := range flipped {
		b[begin+i] ^= 0x5a
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
}

// rootOf is the page at which a table begins.
func rootOf(t *testing.T, path, table string) (page int) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.Read.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&page))
	return page
}

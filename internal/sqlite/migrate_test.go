package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

const ours = 0x1234

func files(texts ...string) fstest.MapFS {
	fs := fstest.MapFS{}
	for i, text := range texts {
		fs[[]string{"0001_first.sql", "0002_second.sql", "0003_third.sql"}[i]] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

const (
	first  = "CREATE TABLE a (x); INSERT INTO a VALUES (1)"
	second = "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1"
	broken = "CREATE TABLE b (x); INSERT INTO missing VALUES (1)"
)

func TestMigrateStepByStep(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	require.ErrorIs(t, sqlite.Check(t.Context(), db.Read, files(first), ours), sqlite.ErrOlder)
	for _, fs := range []fstest.MapFS{files(first), files(first), files(first, second)} {
		require.NoError(t, sqlite.Migrate(t.Context(), db.Write, fs, ours))
		require.NoError(t, sqlite.Check(t.Context(), db.Read, fs, ours))
	}
	var y, version int
	require.NoError(t, db.Read.QueryRow("SELECT y FROM a").Scan(&y))
	require.NoError(t, db.Read.QueryRow("PRAGMA user_version").Scan(&version))
	require.Equal(t, 2, y)
	require.Equal(t, 2, version)
}

// A step that fails has no effect; the ones before it stay, and it can be tried
// again.
func TestMigrateFailsWhole(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	err := sqlite.Migrate(t.Context(), db.Write, files(first, broken), ours)
	require.ErrorContains(t, err, "0002_second.sql")
	require.ErrorContains(t, err, "missing")
	require.NoError(t, sqlite.Check(t.Context(), db.Read, files(first), ours))
	var n int
	require.NoError(t, db.Read.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&n))
	require.Equal(t, 1, n)
	require.NoError(t, sqlite.Migrate(t.Context(), db.Write, files(first, second), ours))
}

func TestMigrateRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		before string
		want   error
	}{
		"a newer version":            {"PRAGMA application_id = 0x1234; PRAGMA user_version = 3; CREATE TABLE z (x)", sqlite.ErrNewer},
		"another program's":          {"PRAGMA application_id = 7; CREATE TABLE z (x)", sqlite.ErrForeign},
		"another program's, no id":   {"CREATE TABLE z (x)", sqlite.ErrForeign},
		"another's empty with an id": {"PRAGMA application_id = 7", sqlite.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			db := open(t, path, sqlite.Options{CheckpointPages: -1})
			must(t, db.Write, test.before)
			before, err := os.ReadFile(path + "-wal")
			require.NoError(t, err)
			require.ErrorIs(t, sqlite.Check(t.Context(), db.Read, files(first, second), ours), test.want)
			require.ErrorIs(t, sqlite.Migrate(t.Context(), db.Write, files(first, second), ours), test.want)
			after, err := os.ReadFile(path + "-wal")
			require.NoError(t, err)
			require.Equal(t, before, after, "it was written to")
		})
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	for _, name := range []string{"0002_first.sql", "first.sql"} {
		fs := fstest.MapFS{name: &fstest.MapFile{Data: []byte(first)}}
		require.ErrorContains(t, sqlite.Migrate(t.Context(), db.Write, fs, ours), "0001")
		require.ErrorContains(t, sqlite.Check(t.Context(), db.Read, fs, ours), "0001")
	}
}

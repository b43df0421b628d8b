package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

func open(t *testing.T, path string, o sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func must(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

// The pragmas hold on every connection of a pool, not on its first alone.
func TestPragmasHoldOnEveryConnection(t *testing.T) {
	for name, want := range map[string]sqlite.Synchronous{"full": sqlite.Full, "normal": sqlite.Normal, "off": sqlite.Off} {
		t.Run(name, func(t *testing.T) {
			db := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{Synchronous: want, Readers: 3, CacheKiB: 100})
			require.Equal(t, map[string]string{
				"journal_mode": "wal", "synchronous": fmt.Sprint(int(want)), "busy_timeout": "5000",
				"cache_size": "-100", "query_only": "0", "foreign_keys": "1", "wal_autocheckpoint": "1000",
			}, pragmas(t, db.Write))
			for range 3 { // held until the end, so that each is another
				conn, err := db.Read.Conn(t.Context())
				require.NoError(t, err)
				defer func() { require.NoError(t, conn.Close()) }()
				got := pragmas(t, conn)
				require.Equal(t, "1", got["query_only"])
				require.Equal(t, "5000", got["busy_timeout"])
				require.Equal(t, "wal", got["journal_mode"])
			}
		})
	}
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func pragmas(t *testing.T, q querier) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, name := range []string{
		"journal_mode", "synchronous", "busy_timeout", "cache_size", "query_only", "foreign_keys", "wal_autocheckpoint",
	} {
		var v string
		require.NoError(t, q.QueryRowContext(t.Context(), "PRAGMA "+name).Scan(&v))
		got[name] = v
	}
	return got
}

func TestReadersCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, sqlite.Options{})
	must(t, db.Write, "CREATE TABLE t (x)")
	_, err := db.Read.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
	require.ErrorContains(t, err, "readonly")
	only := open(t, path, sqlite.Options{ReadOnly: true})
	require.Nil(t, only.Write)
	_, err = only.Read.ExecContext(t.Context(), "DROP TABLE t")
	require.ErrorContains(t, err, "readonly")
}

func TestReadOnlyMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	require.ErrorContains(t, err, path)
	require.NoFileExists(t, path)
}

// A path is a path: nothing in it is read as an option or an escape.
func TestAnyPath(t *testing.T) {
	for _, name := range []string{"a b.db", "a?mode=memory&_query_only=1.db", "a#b.db", "100%41.db", "ü.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			db := open(t, path, sqlite.Options{})
			must(t, db.Write, "CREATE TABLE t (x)")
			var n int
			require.NoError(t, db.Read.QueryRow("SELECT count(*) FROM t").Scan(&n))
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		})
	}
}

func TestOpenWhereNothingCanBe(t *testing.T) {
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "missing", "a.db"), sqlite.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
	require.Error(t, err)
}

func TestMemory(t *testing.T) {
	db, err := sqlite.OpenMemory(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	must(t, db.Write, "CREATE VIRTUAL TABLE t USING fts5(x)")
	must(t, db.Write, "INSERT INTO t VALUES ('to be found')")
	var n int
	require.NoError(t, db.Read.QueryRow("SELECT count(*) FROM t WHERE t MATCH 'found'").Scan(&n))
	require.Equal(t, 1, n)
}

// Case 084: transactions that read and then write, from many goroutines, wait
// for each other instead of failing, and none is lost.
func TestReadThenWriteWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	one, two := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	must(t, one.Write, "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)")
	var wg sync.WaitGroup
	for i := range 20 {
		db := []*sqlite.DB{one, two}[i%2].Write
		wg.Go(func() {
			for range 20 {
				if err := increment(db); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var n int
	require.NoError(t, one.Read.QueryRow("SELECT n FROM t").Scan(&n))
	require.Equal(t, 400, n)
}

func increment(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow("SELECT n FROM t").Scan(&n); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE t SET n = ?", n+1); err != nil {
		return err
	}
	return tx.Commit()
}

func TestCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, sqlite.Options{CheckpointPages: -1})
	must(t, db.Write, "CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))")
	pages, copied, err := sqlite.Checkpoint(t.Context(), db.Write)
	require.NoError(t, err)
	require.Greater(t, pages, int64(24))
	require.Equal(t, pages, copied)

	anew, err := sqlite.Restart(t.Context(), db.Write, time.Millisecond)
	require.NoError(t, err)
	require.True(t, anew)
	must(t, db.Write, "INSERT INTO t VALUES (1)")

	reader, err := db.Read.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.QueryRow("SELECT count(*) FROM t").Scan(&n)) // it is in the log now
	must(t, db.Write, "INSERT INTO t VALUES (2)")
	anew, err = sqlite.Restart(t.Context(), db.Write, time.Millisecond)
	require.NoError(t, err)
	require.False(t, anew)
	require.NoError(t, reader.Rollback())
	require.Equal(t, "5000", pragmas(t, db.Write)["busy_timeout"])
}

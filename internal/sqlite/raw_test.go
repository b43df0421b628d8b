package sqlite_test

import (
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

func TestRaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Synchronous: sqlite.Full})
	require.NoError(t, err)
	must(t, db.Write, "CREATE TABLE t (n INTEGER PRIMARY KEY, b, s, z)")
	for n := range int64(3) {
		require.NoError(t, db.Raw(t.Context(), func(c *sqlite.Conn) error {
			require.False(t, c.InTx())
			require.NoError(t, c.Exec("BEGIN IMMEDIATE"))
			require.True(t, c.InTx())
			require.NoError(t, c.Exec("INSERT INTO t VALUES (?, ?, ?, ?)", n, []byte{0, byte(n)}, "a\x00b", nil))
			require.True(t, sqlite.IsConstraint(c.Exec("INSERT INTO t VALUES (?, 1, 1, 1)", n)))
			require.True(t, c.InTx(), "a constraint ends its statement alone")
			return c.Exec("COMMIT")
		}))
	}
	require.NoError(t, db.Raw(t.Context(), func(c *sqlite.Conn) error {
		row, err := c.QueryRow("SELECT n, b, s, z FROM t WHERE n = ?", int64(2))
		require.NoError(t, err)
		require.Equal(t, []driver.Value{int64(2), []byte{0, 2}, "a\x00b", nil}, row)
		row, err = c.QueryRow("SELECT n FROM t WHERE n = ?", int64(9))
		require.NoError(t, err)
		require.Nil(t, row)
		_, err = c.QueryRow("SELECT nothing")
		require.ErrorContains(t, err, "SELECT nothing")
		return nil
	}))
	require.NoError(t, db.Close())
	require.NoFileExists(t, path+"-wal", "a statement that is left open would keep the file open")
}

package sqlite_test

import (
	"database/sql/driver"
	"errors"
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

func TestRawEach(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "a.db"), sqlite.Options{})
	must(t, db.Write, "CREATE TABLE t (n INTEGER PRIMARY KEY, b BLOB)")
	must(t, db.Write, "INSERT INTO t VALUES (1, x'0a'), (2, x'0b0c'), (3, NULL)")
	full := errors.New("enough")
	for name, c := range map[string]struct {
		query string
		args  []any
		want  []driver.Value
		ends  error
	}{
		"all":        {"SELECT n, b FROM t ORDER BY n", nil, []driver.Value{int64(1), []byte{10}, int64(2), []byte{11, 12}, int64(3), nil}, nil},
		"some":       {"SELECT n FROM t WHERE n > ?", []any{int64(2)}, []driver.Value{int64(3)}, nil},
		"none":       {"SELECT n FROM t WHERE n > ?", []any{int64(9)}, nil, nil},
		"f has done": {"SELECT n FROM t ORDER BY n DESC", nil, []driver.Value{int64(3)}, full},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, db.Raw(t.Context(), func(conn *sqlite.Conn) error {
				for range 2 { // a statement that is left open could not begin again
					var got []driver.Value
					err := conn.Each(c.query, func(row []driver.Value) error {
						got = append(got, row...)
						_, err := conn.QueryRow("SELECT count(*) FROM t")
						require.NoError(t, err)
						return c.ends
					}, c.args...)
					require.ErrorIs(t, err, c.ends)
					require.Equal(t, c.want, got)
				}
				require.ErrorContains(t, conn.Each("SELECT nothing", nil), "SELECT nothing")
				return nil
			}))
		})
	}
}

package sqlite_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

func TestErrorsOfARealFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path, sqlite.Options{})
	must(t, db.Write, "CREATE TABLE t (x INTEGER PRIMARY KEY)")
	must(t, db.Write, "PRAGMA max_page_count = 3")
	_, err := db.Write.ExecContext(t.Context(), "CREATE TABLE u AS SELECT zeroblob(20000)")
	require.True(t, sqlite.IsFull(err), "%v", err)
	require.False(t, sqlite.IsFsync(err) || sqlite.IsBusy(err) || sqlite.IsCorrupt(err) || sqlite.IsConstraint(err))

	must(t, db.Write, "INSERT INTO t VALUES (1)")
	_, err = db.Write.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
	require.True(t, sqlite.IsConstraint(err), "%v", err)

	other := open(t, path, sqlite.Options{})
	must(t, other.Write, "PRAGMA busy_timeout = 1")
	must(t, db.Write, "BEGIN IMMEDIATE")
	_, err = other.Write.ExecContext(t.Context(), "INSERT INTO t VALUES (2)")
	require.True(t, sqlite.IsBusy(err), "%v", err)
	must(t, db.Write, "ROLLBACK")
}

func TestCorruptFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 8192), 0o600))
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.True(t, sqlite.IsCorrupt(err), "%v", err)
}

// Which errors may be tried again, and which end everything.
func TestErrorClasses(t *testing.T) {
	for name, test := range map[string]struct {
		err         error
		full, fsync bool
	}{
		"full":                 {sqlite3.Error{Code: sqlite3.ErrFull}, true, false},
		"a write without room": {sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrWrite, SystemErrno: syscall.ENOSPC}, true, false},
		"a write beyond quota": {sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrWrite, SystemErrno: syscall.EDQUOT}, true, false},
		"a failed write":       {sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrWrite, SystemErrno: syscall.EIO}, false, false},
		"a failed sync":        {sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrFsync, SystemErrno: syscall.EIO}, false, true},
		"a sync without room":  {sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrFsync, SystemErrno: syscall.ENOSPC}, false, true},
		"a failed sync of dir": {sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErrDirFsync}, false, true},
		"wrapped":              {errors.Join(errors.New("x"), sqlite3.Error{Code: sqlite3.ErrFull}), true, false},
		"not of SQLite":        {fs.ErrNotExist, false, false},
		"none":                 {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.full, sqlite.IsFull(test.err))
			require.Equal(t, test.fsync, sqlite.IsFsync(test.err))
		})
	}
}

package sqlite

import (
	"errors"
	"strings"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// What opening and migrating refuse. A database that is refused is not changed.
var (
	ErrNewer   = errors.New("the database was written by a newer version of this program; start that version")
	ErrOlder   = errors.New("the database was written by an older version of this program and must be migrated first")
	ErrForeign = errors.New("the file is not a database of this program")
	ErrPragma  = errors.New("the database cannot be opened safely")
)

// IsFull reports whether err says that there is no room: a full disk or quota,
// or the file's own bound. Nothing was committed, and it may work later.
func IsFull(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return false
	}
	noRoom := e.SystemErrno == syscall.ENOSPC || e.SystemErrno == syscall.EDQUOT
	return e.Code == sqlite3.ErrFull || e.Code == sqlite3.ErrIoErr && noRoom && !isSync(e)
}

// IsFsync reports whether err says that the disk refused to make writes
// durable. What the file holds is then unknown, and asking again would be
// answered with a success that means nothing: stop, and open the file anew.
func IsFsync(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && isSync(e)
}

func isSync(e sqlite3.Error) bool {
	return e.ExtendedCode == sqlite3.ErrIoErrFsync || e.ExtendedCode == sqlite3.ErrIoErrDirFsync
}

// IsBusy reports whether err says that somebody else held a lock for too long.
func IsBusy(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}

// IsCorrupt reports whether err says that the file is damaged, or is not a
// database.
func IsCorrupt(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB)
}

// Is reports whether err comes from SQLite itself.
func Is(err error) bool {
	_, ok := errors.AsType[sqlite3.Error](err)
	return ok
}

// IsMissing reports whether err says that the database lacks a table or column
// that a statement names. In one that Migrate has brought to its version that is
// damage: SQLite could read the page that lists them, and it is nonsense.
func IsMissing(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && e.Code == sqlite3.ErrError && strings.HasPrefix(e.Error(), "no such ")
}

// IsConstraint reports whether err says that a constraint or a trigger refused
// a statement. The statement had no effect; its transaction goes on.
func IsConstraint(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	return ok && e.Code == sqlite3.ErrConstraint
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Migrate brings a database to the newest version. files holds SQL files whose
// names begin with their number, 0001_first.sql, from 1 without a gap; each
// runs in a transaction of its own, which also stores its number (PRAGMA
// user_version) and the application's id (PRAGMA application_id). A database
// of a newer version is refused with ErrNewer, one of another program with
// ErrForeign; both stay as they are.
func Migrate(ctx context.Context, db *sql.DB, files fs.FS, applicationID int32) error {
	names, version, err := look(ctx, db, files, applicationID)
	if err != nil {
		return err
	}
	for n, name := range names[version:] {
		if err := apply(ctx, db, files, name, version+n+1, applicationID); err != nil {
			return fmt.Errorf("migrate to %s: %w", name, err)
		}
	}
	return nil
}

// Check reports whether db is of the version to which Migrate would bring it,
// and changes nothing. It returns ErrNewer, ErrOlder or ErrForeign. An empty
// file is ErrOlder.
func Check(ctx context.Context, db *sql.DB, files fs.FS, applicationID int32) error {
	names, version, err := look(ctx, db, files, applicationID)
	if err == nil && version < len(names) {
		err = fmt.Errorf("version %d of %d: %w", version, len(names), ErrOlder)
	}
	return err
}

// look returns the migrations that this build has, and up to which of them a
// database is. It refuses one that is beyond them.
func look(ctx context.Context, db *sql.DB, files fs.FS, applicationID int32) (names []string, version int, err error) {
	if names, err = migrations(files); err != nil {
		return nil, 0, err
	}
	if version, err = versionOf(ctx, db, applicationID); err != nil {
		return nil, 0, err
	}
	if version > len(names) {
		return nil, 0, fmt.Errorf("version %d, this build knows %d: %w", version, len(names), ErrNewer)
	}
	return names, version, nil
}

// migrations lists the files in order and refuses a gap.
func migrations(files fs.FS) ([]string, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	slices.Sort(names)
	for i, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s: its number should be %04d", name, i+1)
		}
	}
	return names, nil
}

// versionOf returns the version of a database of ours, 0 for an empty one.
func versionOf(ctx context.Context, db *sql.DB, applicationID int32) (int, error) {
	var id int32
	var version, objects int
	err := db.QueryRowContext(ctx, `SELECT
		(SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`).Scan(&id, &version, &objects)
	if err != nil {
		return 0, fmt.Errorf("read the database's version: %w", err)
	}
	if id == 0 && version == 0 && objects == 0 {
		return 0, nil
	}
	if id != applicationID {
		return 0, fmt.Errorf("application id %#x, not %#x: %w", id, applicationID, ErrForeign)
	}
	return version, nil
}

func apply(ctx context.Context, db *sql.DB, files fs.FS, name string, version int, applicationID int32) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	pragmas := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version)
	for _, statements := range []string{string(text), pragmas} {
		if _, err := tx.ExecContext(ctx, statements); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

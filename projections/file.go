package projections

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// applicationID marks views.db (PRAGMA application_id): "CsVw".
const applicationID = 0x43735677

// derivation is raised when the same records come to give other rows without
// a change of the schema.
const derivation = 4

//go:embed schema/*.sql
var schema embed.FS

//go:embed indexes.sql
var indexes string

// beside is what a file that is being built is called, after the name of the
// one that it replaces.
const beside = ".new"

// errOther: the file is of another build or log.
var errOther = errors.New("the views were made by another version or from another log")

// errRow: a stored row cannot be read. No build writes such a row, so the file
// is damaged.
var errRow = errors.New("a stored row cannot be read")

// disposable reports whether a file that cannot be opened for this reason may be
// replaced by what the log says.
func disposable(err error) bool {
	return errors.Is(err, errOther) || errors.Is(err, sqlite.ErrNewer) || errors.Is(err, sqlite.ErrOlder) || errors.Is(err, sqlite.ErrForeign) || damage(err)
}

// damage reports whether an error says that a file is damaged.
func damage(err error) bool {
	return errors.Is(err, errRow) || sqlite.IsCorrupt(err) || sqlite.IsMissing(err)
}

// openFile opens views.db and makes what is missing in it. With path "" they
// are in memory.
func openFile(ctx context.Context, path string) (*sqlite.DB, error) {
	var db *sqlite.DB
	var err error
	if path == "" {
		db, err = sqlite.OpenMemory(ctx)
	} else {
		// Normal: a power failure may lose the last commits, which are then
		// derived again; it does not damage the file.
		db, err = sqlite.Open(ctx, path, sqlite.Options{Synchronous: sqlite.Normal, CacheKiB: 2048})
	}
	if err != nil {
		return nil, err
	}
	if err := sqlite.Migrate(ctx, db.Write, files(), applicationID); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if _, err := db.Write.ExecContext(ctx, indexes); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func files() fs.FS {
	sub, err := fs.Sub(schema, "schema")
	if err != nil {
		return schema // the folder is embedded above: it cannot be missing
	}
	return sub
}

// stamp names what made the rows: the schema's text and the derivation.
func stamp() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s", derivation, indexes)
	names, _ := fs.Glob(schema, "schema/*.sql") // the pattern is good
	for _, name := range names {
		text, _ := schema.ReadFile(name) // embedded
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Stamp names what derived the rows: two builds with the same stamp derive the
// same rows from the same log.
func (v *Views) Stamp() string { return stamp() }

// remove deletes a file of views with what SQLite keeps beside it. The file goes
// first: its write-ahead log must never meet another file.
func remove(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete the old views: %w", err)
		}
	}
	return nil
}

// replace puts a finished file in the place of another, which must be closed.
func replace(path, with string) error {
	if left, err := filepath.Glob(path + "-*"); err != nil || len(left) > 0 {
		// It could not be closed cleanly.
		if err := errors.Join(err, remove(path)); err != nil {
			return err
		}
	}
	if err := os.Rename(with, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// syncFile makes a file, or the names in a folder, durable.
func syncFile(path string) error {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

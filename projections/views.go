package projections

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// applicationID marks views.db (PRAGMA application_id): "CsVw".
const applicationID = 0x43735677

// derivation is raised when the same records come to give other rows without
// a change of the schema.
const derivation = 1

//go:embed schema/*.sql
var schema embed.FS

// Options say how to open the views.
type Options struct {
	// Path is where views.db is; "" keeps the views in memory.
	Path   string
	Source Source
	Logger *slog.Logger // nil: none
}

// Views are the audit views and their reader. Queries may be called from any
// goroutine, while Run runs and before.
type Views struct {
	opt    Options
	logger *slog.Logger
	db     atomic.Pointer[sqlite.DB] // replaced by Run when the file is damaged
	audit  *audit                    // Run's, and Open's before it

	mu      sync.Mutex
	status  Status        // mu
	changed chan struct{} // mu; closed and replaced when status moves
}

// Open opens the views. A file that this build did not make from this log, or
// that is damaged, is deleted and made anew; one of another program is refused.
func Open(ctx context.Context, o Options) (*Views, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	v := &Views{opt: o, logger: o.Logger, changed: make(chan struct{})}
	if err := v.open(ctx); err != nil {
		return nil, fmt.Errorf("views: %w", err)
	}
	return v, nil
}

// open opens the file, once more from nothing where it will not do.
func (v *Views) open(ctx context.Context) error {
	err := v.try(ctx)
	if err == nil || v.opt.Path == "" || !disposable(err) {
		return err
	}
	v.logger.WarnContext(ctx, "views are made anew", "path", v.opt.Path, "reason", err.Error())
	if err := remove(v.opt.Path); err != nil {
		return err
	}
	return v.try(ctx)
}

// errOther: the file is of another build or log.
var errOther = errors.New("the views were made by another version or from another log")

func disposable(err error) bool {
	return errors.Is(err, errOther) || errors.Is(err, sqlite.ErrNewer) || errors.Is(err, sqlite.ErrOlder) || sqlite.IsCorrupt(err)
}

func (v *Views) try(ctx context.Context) error {
	db, err := v.openFile(ctx)
	if err != nil {
		return err
	}
	a, err := restore(ctx, db, v.opt.Source)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	v.db.Store(db)
	v.audit = a
	status, err := a.measure(ctx, db.Read)
	if err != nil {
		return err
	}
	v.publish(status)
	return nil
}

func (v *Views) openFile(ctx context.Context) (*sqlite.DB, error) {
	open := func() (*sqlite.DB, error) { return sqlite.OpenMemory(ctx) }
	if v.opt.Path != "" {
		// Normal: a power failure may lose the last commits, which are then
		// derived again; it does not damage the file.
		open = func() (*sqlite.DB, error) {
			return sqlite.Open(ctx, v.opt.Path, sqlite.Options{Synchronous: sqlite.Normal})
		}
	}
	db, err := open()
	if err != nil {
		return nil, err
	}
	if err := sqlite.Migrate(ctx, db.Write, files(), applicationID); err != nil {
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
	fmt.Fprintf(h, "%d\n", derivation)
	names, _ := fs.Glob(schema, "schema/*.sql") // the pattern is good
	for _, name := range names {
		text, _ := schema.ReadFile(name) // embedded
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func remove(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete the old views: %w", err)
		}
	}
	return nil
}

// Close closes the file. Run must have returned.
func (v *Views) Close() error { return v.db.Load().Close() }

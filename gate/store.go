package gate

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// applicationID marks gate.db ("CSgt").
const applicationID = 0x43536774

//go:embed schema/*.sql
var schemaFiles embed.FS

// store is gate.db. Losing its last writes is harmless: its position goes back
// with them, and the log is read again from there.
type store struct {
	db   *sqlite.DB
	once sync.Once // over close
	err  error     // of close
}

// openStore opens gate.db. A damaged file is made anew: all that it holds is in
// the log.
func openStore(ctx context.Context, path string, logger *slog.Logger) (*store, error) {
	if path == "" {
		db, err := sqlite.OpenMemory(ctx)
		if err != nil {
			return nil, err
		}
		return migrated(ctx, db)
	}
	st, err := openFile(ctx, path)
	if !sqlite.IsCorrupt(err) {
		return st, err
	}
	return remakeStore(ctx, path, logger, err)
}

func remakeStore(ctx context.Context, path string, logger *slog.Logger, why error) (*store, error) {
	logger.WarnContext(ctx, "gate.db is damaged and is made anew from the journal", "path", path, "error", why)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("make gate.db anew: %w", err)
		}
	}
	return openFile(ctx, path)
}

func openFile(ctx context.Context, path string) (*store, error) {
	db, err := sqlite.Open(ctx, path, sqlite.Options{Synchronous: sqlite.Normal, CacheKiB: 1024, Readers: 1})
	if err != nil {
		return nil, err
	}
	return migrated(ctx, db)
}

func migrated(ctx context.Context, db *sqlite.DB) (*store, error) {
	files, err := fs.Sub(schemaFiles, "schema")
	if err != nil {
		return nil, err
	}
	if err := sqlite.Migrate(ctx, db.Write, files, applicationID); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &store{db: db}, nil
}

// close closes the file, once.
func (st *store) close() error {
	st.once.Do(func() { st.err = st.db.Close() })
	return st.err
}

// position returns the place up to which the file is true.
func (st *store) position(ctx context.Context) (place, error) {
	var at place
	err := st.db.Read.QueryRowContext(ctx, "SELECT row, digest FROM position").Scan(&at.row, &at.digest)
	if errors.Is(err, sql.ErrNoRows) {
		return place{}, nil
	}
	return at, err
}

// clear forgets everything.
func (st *store) clear(ctx context.Context) error {
	_, err := st.db.Write.ExecContext(ctx, "DELETE FROM position; DELETE FROM unfinished; DELETE FROM requests; DELETE FROM known; DELETE FROM definitions")
	return err
}

func (st *store) unfinished(ctx context.Context) ([]string, error) {
	rows, err := st.db.Read.QueryContext(ctx, "SELECT session FROM unfinished")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (st *store) known(ctx context.Context) (map[string]events.Digest, error) {
	rows, err := st.db.Read.QueryContext(ctx, "SELECT name, digest FROM known")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]events.Digest{}
	for rows.Next() {
		var name, digest string
		if err := rows.Scan(&name, &digest); err != nil {
			return nil, err
		}
		known[name] = events.Digest(digest)
	}
	return known, rows.Err()
}

// definitions returns the state of the fold of definitions.
func (st *store) definitions(ctx context.Context) (d fold.Definitions, err error) {
	var doc []byte
	err = st.db.Read.QueryRowContext(ctx, "SELECT doc FROM definitions").Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(doc, &d)
}

// session returns the session of a request, or "".
func (st *store) session(ctx context.Context, request string) (string, error) {
	var id string
	err := st.db.Read.QueryRowContext(ctx, "SELECT session FROM requests WHERE request = ?", request).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// changes are what gate.db does not know yet, up to a place.
type changes struct {
	at       place
	sessions map[string]bool // to whether they are unfinished
	requests map[string]string
	known    map[string]events.Digest
	accepted []byte // fold.Definitions as JSON; nil where it did not move
}

func (st *store) save(ctx context.Context, c changes) error {
	tx, err := st.db.Write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	exec := func(query string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, query, args...)
		}
	}
	exec("INSERT OR REPLACE INTO position (one, row, digest) VALUES (1, ?, ?)", c.at.row, string(c.at.digest))
	for id, open := range c.sessions {
		if open {
			exec("INSERT OR IGNORE INTO unfinished (session) VALUES (?)", id)
		} else {
			exec("DELETE FROM unfinished WHERE session = ?", id)
		}
	}
	for request, session := range c.requests {
		exec("INSERT OR IGNORE INTO requests (request, session) VALUES (?, ?)", request, session)
	}
	for name, digest := range c.known {
		exec("INSERT INTO known (name, digest) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET digest = excluded.digest", name, string(digest))
	}
	if c.accepted != nil {
		exec("INSERT OR REPLACE INTO definitions (one, doc) VALUES (1, ?)", string(c.accepted))
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

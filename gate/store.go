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
	"time"

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
type store struct{ db *sqlite.DB }

// openStore opens gate.db. A file that cannot be used is put aside and made
// anew: all that it holds is in the log.
func openStore(ctx context.Context, path string, logger *slog.Logger) (*store, error) {
	if path == "" {
		db, err := sqlite.OpenMemory(ctx)
		if err != nil {
			return nil, err
		}
		return migrated(ctx, db)
	}
	st, err := openFile(ctx, path)
	if err == nil || errors.Is(err, sqlite.ErrNewer) {
		return st, err
	}
	logger.WarnContext(ctx, "gate.db cannot be used and is made anew from the journal", "path", path, "error", err)
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

func (st *store) close() error { return st.db.Close() }

// position returns the row up to which the file is true.
func (st *store) position(ctx context.Context) (int64, error) {
	var row int64
	err := st.db.Read.QueryRowContext(ctx, "SELECT row FROM position").Scan(&row)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return row, err
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

// session returns the session of a request, or "".
func (st *store) session(ctx context.Context, request string) (string, error) {
	var id string
	err := st.db.Read.QueryRowContext(ctx, "SELECT session FROM requests WHERE request = ?", request).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// changes are what gate.db does not know yet, up to a row.
type changes struct {
	row      int64
	sessions map[string]bool // to whether they are unfinished
	requests map[string]string
	known    map[string]events.Digest
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
	exec("INSERT INTO position (one, row) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET row = excluded.row", c.row)
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
	if err != nil {
		return err
	}
	return tx.Commit()
}

// restore loads what was unfinished when gate.db was last written.
func (g *Gate) restore(ctx context.Context) error {
	row, err := g.store.position(ctx)
	if err != nil {
		return fmt.Errorf("gate.db: %w", err)
	}
	ids, err := g.store.unfinished(ctx)
	if err != nil {
		return fmt.Errorf("gate.db: %w", err)
	}
	known, err := g.store.known(ctx)
	if err != nil {
		return fmt.Errorf("gate.db: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.applied, g.known = row, known
	for _, id := range ids {
		s, err := g.load(ctx, id)
		if err != nil {
			return err
		}
		g.resume(s)
	}
	return nil
}

// resume takes up what a loaded session waits for. mu is held.
func (g *Gate) resume(s *session) {
	for _, q := range s.Requests {
		if q.State != fold.Pending {
			continue
		}
		g.pending[q.Requester]++
		g.schedule(s, q, false)
		for _, m := range q.Modifications {
			g.modified(modification{session: s.ID, request: q.RequestID, decision: m.EventID})
		}
	}
}

// persist writes gate.db now and then, and once at the end.
func (g *Gate) persist(ctx context.Context) error {
	ticker := time.NewTicker(persistGap)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := g.flush(ctx); err != nil && ctx.Err() == nil {
				g.logger.WarnContext(ctx, "gate.db could not be written; the next start reads more", "error", err)
			}
		case <-ctx.Done():
			return errors.Join(g.flush(context.WithoutCancel(ctx)), context.Cause(ctx))
		}
	}
}

func (g *Gate) flush(ctx context.Context) error {
	c := g.takeChanges()
	if c.row == g.saved {
		return nil
	}
	if err := g.store.save(ctx, c); err != nil {
		g.putBack(c)
		return err
	}
	g.saved = c.row
	return nil
}

func (g *Gate) takeChanges() changes {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := changes{row: g.applied, sessions: map[string]bool{}, requests: g.newest, known: g.newlyKnown}
	for id := range g.dirty {
		s := g.sessions[id]
		c.sessions[id] = s != nil && s.Busy()
	}
	g.dirty, g.newest, g.newlyKnown = map[string]bool{}, map[string]string{}, map[string]events.Digest{}
	return c
}

// putBack keeps changes that could not be written for the next try.
func (g *Gate) putBack(c changes) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range c.sessions {
		g.dirty[id] = true
	}
	for request, session := range c.requests {
		g.newest[request] = session
	}
	for name, digest := range c.known {
		if _, newer := g.newlyKnown[name]; !newer {
			g.newlyKnown[name] = digest
		}
	}
}

// sessionOf returns the session of a request, or "".
func (g *Gate) sessionOf(ctx context.Context, request string) (string, error) {
	g.mu.Lock()
	id := g.newest[request]
	g.mu.Unlock()
	if id != "" || len(request) > events.MaxNameBytes {
		return id, nil
	}
	id, err := g.store.session(ctx, request)
	if err != nil {
		return "", fmt.Errorf("gate.db: look up a request: %w", err)
	}
	return id, nil
}

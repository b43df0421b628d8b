package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// current is the file that answers queries. A rebuild exchanges it: that waits
// for the queries that are under way, and those that come meanwhile wait for
// the new file, so that none fails by it.
type current struct {
	mu      sync.RWMutex
	db      *sqlite.DB       // mu
	damaged func(error) bool // told why a query failed; whether the views are made anew for it
}

// maxExchange is how long an exchange waits for queries to end.
const maxExchange = 30 * time.Second

// errExchange: a query did not end.
var errExchange = errors.New("the old views are still being read")

// QueryContext implements querier.
func (c *current) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.db.Read.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // the caller closes them
}

// QueryRowContext implements querier.
func (c *current) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.db.Read.QueryRowContext(ctx, query, args...)
}

// BeginTx begins a transaction that only reads: queries of one moment.
func (c *current) BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.db.Read.BeginTx(ctx, o)
}

// atOnce runs f in a transaction that only reads: what its queries find is of
// one position.
func (v *Views) atOnce(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := v.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return note(v.db, err)
	}
	defer tx.Rollback()
	if err = f(tx); damage(err) {
		return note(v.db, err)
	}
	return err
}

// exchange puts another database in the place of the one there is. open gets
// the old one when nobody reads it any more, and closes it.
func (c *current) exchange(ctx context.Context, open func(old *sqlite.DB) (*sqlite.DB, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.quiet(ctx); err != nil {
		return err
	}
	db, err := open(c.db)
	if db != nil {
		c.db = db
	}
	return err
}

// quiet returns when no query is under way; c.mu is held.
func (c *current) quiet(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, maxExchange, errExchange)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for c.db != nil && c.db.Read.Stats().InUse > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// note reports a damaged file, whoever finds it, and returns what the query
// fails with: ErrDamaged where that is why, and is being mended.
func note(q querier, err error) error {
	if c, ok := q.(*current); ok && c.damaged != nil && damage(err) && c.damaged(err) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if strings.HasPrefix(err.Error(), "views: ") {
		return err
	}
	return fmt.Errorf("views: %w", err)
}

func (c *current) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.db.Close()
}

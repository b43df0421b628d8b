package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// place scans the three columns of a position.
type place struct {
	logTime, off int64
	part         uint32
}

func (p *place) dest() []any { return []any{&p.logTime, &p.part, &p.off} }

func (p *place) position() events.Position {
	return events.Position{LogTime: p.logTime, Partition: p.part, Offset: uint64(p.off)} //nolint:gosec // stored from one
}

// off is an offset as SQLite keeps it: in 63 bits, of which a log needs fewer.
func off(p events.Position) int64 { return int64(p.Offset) } //nolint:gosec // see above

// one scans rows of one column.
func one[T any](scan func(...any) error) (v T, err error) { return v, scan(&v) }

// list runs a query and scans each row with f.
func list[T any](ctx context.Context, q querier, f func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, note(q, err)
	}
	defer rows.Close()
	var items []T
	for rows.Next() {
		item, err := f(rows.Scan)
		if err != nil {
			return nil, note(q, unread(ctx, err))
		}
		items = append(items, item)
	}
	if err := rows.Err(); err != nil {
		return nil, note(q, err)
	}
	return items, nil
}

// first runs a query and scans its only row with f; ErrNotFound if there is
// none.
func first[T any](ctx context.Context, q querier, f func(scan func(...any) error) (T, error), query string, args ...any) (T, error) {
	item, err := f(q.QueryRowContext(ctx, query, args...).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return item, ErrNotFound
	case err != nil:
		return item, note(q, unread(ctx, err))
	}
	return item, nil
}

// unread says that a row is to blame for an error of reading it: it is, unless
// SQLite failed, or ctx ended.
func unread(ctx context.Context, err error) error {
	if ctx.Err() != nil || sqlite.Is(err) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return fmt.Errorf("%w: %w", errRow, err)
}

// undoc reads a stored document; "" leaves v as it is.
func undoc(text string, v any) error {
	if text == "" {
		return nil
	}
	return json.Unmarshal([]byte(text), v)
}

package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
)

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

const (
	readAll = `SELECT r.row, r.record, s.name FROM records r JOIN sessions s ON s.no = r.session
		WHERE r.row > ? ORDER BY r.row LIMIT ?`
	// The stays of a session follow each other, so that by number and row is by row.
	readSession = `SELECT r.row, r.record, s.name FROM sessions s CROSS JOIN records r ON r.session = s.no
		WHERE s.name = ? AND r.row > ? ORDER BY s.no, r.row LIMIT ?`
)

// Read returns the records after a row, in the order of rows, at most that
// many; none at the end. Keep batches to some thousands: a reader at work
// keeps the write-ahead log from beginning anew.
func (j *Journal) Read(ctx context.Context, afterRow int64, most int) ([]Stored, error) {
	if found, ok := j.recent.read(afterRow, most); ok {
		return found, ctx.Err()
	}
	return query(ctx, j.db.Read, readAll, afterRow, most)
}

// ReadSession is Read for one session. There are no records of a session that
// is not known.
func (j *Journal) ReadSession(ctx context.Context, session string, afterRow int64, most int) ([]Stored, error) {
	if found, ok := j.recent.readSession(session, afterRow, most); ok {
		return found, ctx.Err()
	}
	return query(ctx, j.db.Read, readSession, pack(session), afterRow, most)
}

// Find returns the record of an event, or ErrNotFound.
func (j *Journal) Find(ctx context.Context, partition uint32, eventID string) (Stored, error) {
	found, err := query(ctx, j.db.Read, findRecord, partition, pack(eventID))
	if err != nil {
		return Stored{}, err
	}
	if len(found) == 0 {
		return Stored{}, fmt.Errorf("event %.80q in partition %d: %w", eventID, partition, ErrNotFound)
	}
	return found[0], nil
}

// query runs a query for row, record and session.
func query(ctx context.Context, q querier, text string, args ...any) (_ []Stored, err error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var found []Stored
	for rows.Next() {
		var row, record, session any
		if err := rows.Scan(&row, &record, &session); err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		s, err := storedOf(row, record, session)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return found, nil
}

// storedOf makes a Stored of the columns row, record and session name.
func storedOf(row, record, session any) (Stored, error) {
	r, okRow := row.(int64)
	b, okRecord := record.([]byte)
	if !okRow || !okRecord {
		return Stored{}, fmt.Errorf("%w: row %v: its columns are a %T and a %T", ErrDamaged, row, row, record)
	}
	name, err := unpack(session)
	if err != nil {
		return Stored{}, fmt.Errorf("%w: row %d: its session is %w", ErrDamaged, r, err)
	}
	decoded, err := events.DecodeRecord(b)
	if err != nil {
		return Stored{}, fmt.Errorf("%w: row %d: %w", ErrDamaged, r, err)
	}
	return Stored{Row: r, Record: decoded, Session: name}, nil
}

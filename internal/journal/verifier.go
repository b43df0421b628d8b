package journal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ledger"
)

// verifier reads records in order and builds the tree from them again.
// Whatever does not agree is ErrDamaged.
type verifier struct {
	draft
	names func(envelope []byte) (eventID, session string, err error) // nil: envelopes are not looked into
}

func newVerifier(from *tree, names func([]byte) (string, string, error)) *verifier {
	d := from.edit()
	if d.edges == nil {
		d.edges = map[uint32]*edge{}
	}
	return &verifier{draft: *d, names: names}
}

// read verifies the rows up to and including upTo, and the snapshots among
// them.
func (v *verifier) read(ctx context.Context, q querier, upTo int64) error {
	for v.row < upTo {
		var snapshot sql.NullInt64
		err := q.QueryRowContext(ctx, `SELECT min(row) FROM frontiers WHERE row > ? AND row <= ?`, v.row, upTo).Scan(&snapshot)
		if err != nil {
			return err
		}
		if !snapshot.Valid {
			return v.readRows(ctx, q, upTo)
		}
		if err := v.readRows(ctx, q, snapshot.Int64); err != nil {
			return err
		}
		edges, err := snapshotAt(ctx, q, v.row)
		if err != nil {
			return err
		}
		if err := v.compare(edges, fmt.Sprintf("the frontier stored at row %d", v.row)); err != nil {
			return err
		}
	}
	return nil
}

func snapshotAt(ctx context.Context, q querier, row int64) (map[uint32]*edge, error) {
	return readEdges(ctx, q, `SELECT partition, log_time, frontier FROM frontiers WHERE row = ?`, row)
}

// line is a row of records as it is stored.
type line struct {
	row          int64
	partition    uint32
	id, session  any
	leaf, record sql.RawBytes // valid until the next row
}

func (v *verifier) readRows(ctx context.Context, q querier, upTo int64) (err error) {
	const text = `SELECT r.row, r.partition, r.id, s.name, r.leaf, r.record FROM records r
		LEFT JOIN sessions s ON s.no = r.session WHERE r.row > ? AND r.row <= ? ORDER BY r.row`
	rows, err := q.QueryContext(ctx, text, v.row, upTo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.row, &l.partition, &l.id, &l.session, &l.leaf, &l.record); err != nil {
			return err
		}
		if err := v.check(l); err != nil {
			return fmt.Errorf("%w: row %d: %w", ErrDamaged, l.row, err)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if v.row != upTo {
		return fmt.Errorf("%w: row %d is missing", ErrDamaged, v.row+1)
	}
	return nil
}

// check verifies one row and adds it to the tree.
func (v *verifier) check(l line) error {
	if l.row != v.row+1 {
		return fmt.Errorf("row %d should come first and is missing", v.row+1)
	}
	leaf := ledger.LeafHash(l.record)
	if !bytes.Equal(leaf[:], l.leaf) {
		return errors.New("the record is not the one that was sealed: its hash differs from the leaf")
	}
	record, err := events.DecodeRecord(l.record)
	if err != nil {
		return err
	}
	edge := v.edge(record.Partition)
	switch {
	case record.Partition != l.partition:
		return fmt.Errorf("the record is of partition %d, its column says %d", record.Partition, l.partition)
	case record.Offset != edge.frontier.Size():
		return fmt.Errorf("the record has offset %d, the next of partition %d is %d", record.Offset, record.Partition, edge.frontier.Size())
	case record.LogTime < edge.logTime:
		return fmt.Errorf("log time goes back from %d to %d", edge.logTime, record.LogTime)
	}
	if err := v.checkNames(l, record.Envelope); err != nil {
		return err
	}
	edge.frontier.Append(leaf)
	edge.logTime, v.row = record.LogTime, l.row
	return nil
}

// checkNames compares the columns by which a record is found with its
// envelope.
func (v *verifier) checkNames(l line, envelope []byte) error {
	id, err := unpack(l.id)
	if err != nil {
		return fmt.Errorf("its id is %w", err)
	}
	session, err := unpack(l.session)
	if err != nil {
		return fmt.Errorf("its session is %w", err)
	}
	if v.names == nil {
		return nil
	}
	wantID, wantSession, err := v.names(envelope)
	if err != nil {
		return nil //nolint:nilerr // what cannot be read is kept, and cannot be compared
	}
	if id != wantID || session != wantSession {
		return fmt.Errorf("its columns say event %.80q of session %.80q, its envelope %.80q of %.80q", id, session, wantID, wantSession)
	}
	return nil
}

// compare checks the tree that was built against one that was stored.
func (v *verifier) compare(stored map[uint32]*edge, what string) error {
	for partition, built := range v.edges {
		if s, ok := stored[partition]; !ok || !s.equal(built) {
			return fmt.Errorf("%w: row %d: %s does not fit the records of partition %d", ErrDamaged, v.row, what, partition)
		}
	}
	if len(stored) != len(v.edges) {
		return fmt.Errorf("%w: row %d: %s has %d partitions, the records have %d", ErrDamaged, v.row, what, len(stored), len(v.edges))
	}
	return nil
}

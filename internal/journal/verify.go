package journal

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// verifyRows is how many rows VerifyAll reads at a time: a long read would
// keep the write-ahead log from beginning anew.
const verifyRows = 4096

// VerifyAll reads the whole journal up to its present end: every record, its
// leaf, offset, log time and place in the tree, every stored frontier, every
// payload. After each batch it calls report with the last row that is
// verified. It returns ErrDamaged, with the row, at the first thing that is
// wrong. It can run beside the writer.
//
// What it cannot see is a journal that was rewritten from some row on, head
// and all: for that, compare Head with one that was kept elsewhere.
func (j *Journal) VerifyAll(ctx context.Context, report func(row int64)) error {
	if err := verifySchema(ctx, j.db.Read); err != nil {
		return damage(err, "reading its schema")
	}
	want, err := j.loadTree(ctx)
	if err != nil {
		return damage(err, "reading its head")
	}
	v := newVerifier(&tree{}, j.o.Names)
	for v.row < want.row {
		after, upTo := v.row, min(v.row+verifyRows, want.row)
		if err := v.read(ctx, j.db.Read, upTo); err != nil {
			return damage(err, fmt.Sprintf("reading after row %d", v.row))
		}
		if err := verifyPayloads(ctx, j.db.Read, after, upTo); err != nil {
			return damage(err, fmt.Sprintf("reading payloads of rows %d to %d", after+1, upTo))
		}
		report(v.row)
	}
	return v.compare(want.edges, "the stored head")
}

// verifyEnd verifies the schema and the last rows, from the last snapshot that
// is at least that many rows before the end.
func verifyEnd(ctx context.Context, db *sqlite.DB, rows int64) (err error) {
	tx, err := db.Read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if err := verifySchema(ctx, tx); err != nil {
		return err
	}
	want, err := readTree(ctx, tx)
	if err != nil {
		return err
	}
	from := &tree{}
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(row), 0) FROM frontiers WHERE row <= ?`, want.row-rows).Scan(&from.row)
	if err != nil {
		return err
	}
	if from.edges, err = snapshotAt(ctx, tx, from.row); err != nil {
		return err
	}
	v := newVerifier(from, nil)
	if err := v.read(ctx, tx, want.row); err != nil {
		return damage(err, fmt.Sprintf("reading after row %d", v.row))
	}
	return v.compare(want.edges, "the stored head")
}

// verifySchema compares tables, indexes and triggers with those of a new
// journal: without its triggers a journal is not append-only any more.
func verifySchema(ctx context.Context, q querier) (err error) {
	fresh, err := sqlite.OpenMemory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	if err := sqlite.Migrate(ctx, fresh.Write, schema(), applicationID); err != nil {
		return err
	}
	want, err := objects(ctx, fresh.Read)
	if err != nil {
		return err
	}
	got, err := objects(ctx, q)
	if err != nil {
		return err
	}
	for name, text := range want {
		if got[name] != text {
			return fmt.Errorf("%w: its schema was changed: %s is missing or is not as it was made", ErrDamaged, name)
		}
	}
	if !maps.Equal(want, got) {
		return fmt.Errorf("%w: its schema was changed: it has %d objects, not %d", ErrDamaged, len(got), len(want))
	}
	return nil
}

// objects returns the schema's objects and their text, but for what SQLite
// makes by itself.
func objects(ctx context.Context, q querier) (_ map[string]string, err error) {
	rows, err := q.QueryContext(ctx, `SELECT type || ' ' || name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		found[name] = text
	}
	return found, rows.Err()
}

// verifyPayloads checks that the payloads of some rows open their commitments,
// and that no row has more of them than were appended with it. It may have
// fewer: they can be erased.
func verifyPayloads(ctx context.Context, q querier, after, upTo int64) (err error) {
	const text = `SELECT p.place / 256, p.place % 256, coalesce(r.payloads, 0), p.commitment, p.salt, p.bytes
		FROM payloads p LEFT JOIN records r ON r.row = p.place / 256 WHERE p.place >= ? AND p.place < ? ORDER BY p.place`
	rows, err := q.QueryContext(ctx, text, (after+1)*maxPayloads, (upTo+1)*maxPayloads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row, ordinal, carried int64
		var commitment, salt, b []byte
		if err := rows.Scan(&row, &ordinal, &carried, &commitment, &salt, &b); err != nil {
			return err
		}
		if ordinal >= carried {
			return fmt.Errorf("%w: row %d: it has a payload %d, but was appended with %d", ErrDamaged, row, ordinal, carried)
		}
		if _, err := opened(row, hex.EncodeToString(commitment), salt, b); err != nil {
			return err
		}
	}
	return rows.Err()
}

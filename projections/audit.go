package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/ledger"
)

// auditName is the projection's name in table progress.
const auditName = "audit"

// audit is the projection's memory: where it is, and the sessions used last.
// One goroutine owns it. It runs ahead of the tables by the batches that are
// not written yet; after one that could not be written it is thrown away and
// read back.
type audit struct {
	source   Source
	row      int64
	position events.Position
	leaf     ledger.Hash
	heads    heads
	sessions *loaded
	book     *book // what counting remembers
	sums     *sums // the totals, for scrapers
}

// restore reads back what was committed, and holds the last record against the
// log: views of another log are errOther.
func restore(ctx context.Context, db *sqlite.DB, source Source) (*audit, error) {
	a := &audit{source: source, heads: heads{}, sessions: newLoaded(source)}
	var err error
	if a.book, err = loadBook(ctx, db.Read); err != nil {
		return nil, err
	}
	if a.sums, err = loadSums(ctx, db.Read); err != nil {
		return nil, err
	}
	var made string
	var leaf []byte
	p := &a.position
	err = db.Read.QueryRowContext(ctx, "SELECT stamp, row, log_time, part, off, leaf FROM progress WHERE name = ?", auditName).
		Scan(&made, &a.row, &p.LogTime, &p.Partition, &p.Offset, &leaf)
	if errors.Is(err, sql.ErrNoRows) {
		a.sessions.seen = &everSeen{} // from the first record on
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	if made != stamp() || len(leaf) != len(a.leaf) {
		return nil, errOther
	}
	a.leaf = ledger.Hash(leaf)
	if a.heads, err = loadHeads(ctx, db.Read); err != nil {
		return nil, err
	}
	return a, a.sameLog(ctx)
}

// sameLog reports errOther where the log does not hold the last record read.
func (a *audit) sameLog(ctx context.Context) error {
	last, err := a.source.Read(ctx, a.row-1, 1)
	if err != nil {
		return fmt.Errorf("%w: %w", errSource, err)
	}
	if len(last) != 1 || last[0].Row != a.row {
		return errOther
	}
	b, err := events.EncodeRecord(last[0].Record)
	if err != nil || ledger.LeafHash(b) != a.leaf {
		return errOther
	}
	return nil
}

// status is where the projection stands, without what only the tables tell.
func (a *audit) status() Status {
	return Status{Position: a.position, Records: a.heads.records(), Heads: a.heads.list()}
}

// errSource: the log could not be read; the record is not to blame.
var errSource = errors.New("read the log")

// poison reports whether an error is a record's own, and not the disk's, the
// log's or the context's.
func poison(err error) bool {
	for _, other := range []error{errSource, errOther, errRow, context.Canceled, context.DeadlineExceeded, sql.ErrConnDone, sql.ErrTxDone} {
		if errors.Is(err, other) {
			return false
		}
	}
	return !sqlite.IsFull(err) && !sqlite.IsBusy(err) && !sqlite.IsCorrupt(err) && !sqlite.IsMissing(err) && !sqlite.IsFsync(err)
}

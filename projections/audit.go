package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/ledger"
)

// auditName is the projection's name in table progress.
const auditName = "audit"

// keepLoaded is how many folded sessions stay in memory with nothing
// unfinished in them.
const keepLoaded = 256

// audit is the projection's memory: where it is, and the folds of the sessions
// that are under way. One goroutine owns it. After a failed batch it is thrown
// away and read back.
type audit struct {
	source   Source
	row      int64
	position events.Position
	leaf     ledger.Hash
	heads    heads
	sessions map[string]*fold.Session
}

// restore reads back what was committed, and holds the last record against the
// log: views of another log are errOther.
func restore(ctx context.Context, db *sqlite.DB, source Source) (*audit, error) {
	a := &audit{source: source, heads: heads{}, sessions: map[string]*fold.Session{}}
	var made string
	var leaf []byte
	p := &a.position
	err := db.Read.QueryRowContext(ctx, "SELECT stamp, row, log_time, part, off, leaf FROM progress WHERE name = ?", auditName).
		Scan(&made, &a.row, &p.LogTime, &p.Partition, &p.Offset, &leaf)
	if errors.Is(err, sql.ErrNoRows) {
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

// session returns the fold of a session before the record at row.
func (a *audit) session(ctx context.Context, tx *sql.Tx, id string, row int64) (*fold.Session, error) {
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	s := fold.NewSession(id)
	var known bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)", id).Scan(&known); err != nil {
		return nil, err
	}
	if known {
		if err := a.refold(ctx, s, row); err != nil {
			return nil, err
		}
	}
	a.sessions[id] = s
	return s, nil
}

// refold reads a session again from the log, up to the record before row.
func (a *audit) refold(ctx context.Context, s *fold.Session, row int64) error {
	for after := int64(0); ; {
		entries, err := a.source.Session(ctx, s.ID, after, batchSize)
		if err != nil {
			return fmt.Errorf("%w: session %.80q: %w", errSource, s.ID, err)
		}
		for _, e := range entries {
			if e.Row >= row {
				return nil
			}
			s.Apply(fold.Decode(e.Record))
			after = e.Row
		}
		if len(entries) < batchSize {
			return nil
		}
	}
}

// unload forgets sessions that have nothing unfinished, beyond a few.
func (a *audit) unload() {
	for id, s := range a.sessions {
		if len(a.sessions) <= keepLoaded {
			return
		}
		if !s.Busy() {
			delete(a.sessions, id)
		}
	}
}

// errSource: the log could not be read; the record is not to blame.
var errSource = errors.New("read the log")

// poison reports whether an error is a record's own, and not the disk's, the
// log's or the context's.
func poison(err error) bool {
	for _, other := range []error{errSource, errOther, context.Canceled, context.DeadlineExceeded, sql.ErrConnDone, sql.ErrTxDone} {
		if errors.Is(err, other) {
			return false
		}
	}
	return !sqlite.IsFull(err) && !sqlite.IsBusy(err) && !sqlite.IsCorrupt(err) && !sqlite.IsFsync(err)
}

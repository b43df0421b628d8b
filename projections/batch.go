package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// batch is one transaction of the audit projection.
type batch struct {
	audit   *audit
	tx      *writer
	careful bool // a savepoint around each record
}

// folded is a record, folded, on its way into the views.
type folded struct {
	fold.Record
	row     int64
	outcome fold.Outcome
	session *fold.Session // nil where the record belongs to none
	ctx     context.Context
	tx      *writer
}

// record applies one record. It fails for what stops the whole batch; in a
// careful batch a poisonous record is set aside instead.
func (b *batch) record(ctx context.Context, e events.Entry) error {
	a := b.audit
	leaf, err := a.heads.add(e.Record)
	if err != nil {
		return err
	}
	a.row, a.position, a.leaf = e.Row, e.Record.Position(), leaf
	if !b.careful {
		return b.derive(ctx, e)
	}
	if err := b.exec(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	err = b.derive(ctx, e)
	if err != nil && !poison(err) {
		return err
	}
	if err != nil {
		if err := b.exec(ctx, "ROLLBACK TO one"); err != nil {
			return err
		}
		if err := b.setAside(ctx, e, err.Error()); err != nil {
			return err
		}
	}
	return b.exec(ctx, "RELEASE one")
}

func (b *batch) exec(ctx context.Context, query string) error {
	_, err := b.tx.ExecContext(ctx, query)
	return err
}

// derive decodes, folds and stores a record. What panics is an error: nothing
// in a record may stop the views.
func (b *batch) derive(ctx context.Context, e events.Entry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	r := folded{Record: fold.Decode(e.Record), row: e.Row, outcome: fold.Outcome{Reason: fold.ReasonNotFolded}, ctx: ctx, tx: b.tx}
	if id := r.Envelope.SessionID; id != "" {
		if r.session, err = b.audit.session(ctx, b.tx.tx, id, e.Row); err != nil {
			return err
		}
		r.outcome = r.session.Apply(r.Record)
	}
	if r.Err != nil {
		return b.unreadable(ctx, e, r)
	}
	return r.store()
}

// unreadable keeps what this build cannot read. A type of another build that
// moves nothing is shown as any other record; all else is set aside.
func (b *batch) unreadable(ctx context.Context, e events.Entry, r folded) error {
	r.outcome = fold.Outcome{Reason: fold.ReasonUnreadable}
	if r.Envelope.ID != "" {
		if err := r.remember(); err != nil {
			return err
		}
	}
	if errors.Is(r.Err, events.ErrUnknownType) && !r.Envelope.Critical {
		return nil
	}
	return b.setAside(ctx, e, r.Err.Error())
}

func (b *batch) setAside(ctx context.Context, e events.Entry, reason string) error {
	p := e.Record.Position()
	_, err := b.tx.ExecContext(ctx, "INSERT OR REPLACE INTO aside (row, log_time, part, off, reason, raw) VALUES (?, ?, ?, ?, ?, ?)",
		e.Row, p.LogTime, p.Partition, off(p), reason, e.Record.Envelope)
	return err
}

// finish stores the position behind the batch.
func (b *batch) finish(ctx context.Context) error {
	a := b.audit
	a.unload()
	if err := a.heads.save(ctx, b.tx.tx); err != nil {
		return err
	}
	p := a.position
	_, err := b.tx.ExecContext(ctx, `INSERT INTO progress (name, stamp, row, log_time, part, off, leaf) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET row = excluded.row, log_time = excluded.log_time, part = excluded.part,
			off = excluded.off, leaf = excluded.leaf`,
		auditName, stamp(), a.row, p.LogTime, p.Partition, off(p), a.leaf[:])
	return err
}

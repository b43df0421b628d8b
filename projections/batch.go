package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// batch folds records, one after the other, into what they change.
type batch struct {
	*changes

	audit    *audit
	payloads payloads   // of the batch's records
	sessions []*session // that changed, in the order in which they did
	found    []text
}

// folded is a record, folded, on its way into the views.
type folded struct {
	fold.Record
	row     int64
	outcome fold.Outcome
	session *fold.Session // nil where the record belongs to none
	traces  *traces       // of the session
	batch   *batch
}

// fold works out what entries change. It fails for what stops all of them; a
// record that cannot be read or derived from is set aside.
func (a *audit) fold(ctx context.Context, entries []events.Entry, carried payloads) (*changes, error) {
	b := &batch{changes: &changes{delta: a.book.begin()}, audit: a, payloads: carried}
	for _, e := range entries {
		if e.Row <= a.row {
			continue // a replay
		}
		if err := b.record(ctx, e); err != nil {
			return nil, fmt.Errorf("record %s: %w", e.Record.Position(), err)
		}
	}
	return b.changes, b.finish(ctx)
}

// record applies one record.
func (b *batch) record(ctx context.Context, e events.Entry) error {
	if err := b.seal(e.Record, e.Row); err != nil {
		return err
	}
	ops, found := len(b.ops), len(b.found)
	if err := b.derive(ctx, e); err != nil {
		if !poison(err) {
			return err
		}
		b.ops, b.found = b.ops[:ops], b.found[:found]
		b.setAside(e, err.Error())
	}
	return nil
}

// seal moves the position, and the frontier with it.
func (b *batch) seal(r events.Record, row int64) error {
	a := b.audit
	leaf, err := a.heads.add(r)
	if err != nil {
		return err
	}
	a.row, a.position, a.leaf = row, r.Position(), leaf
	return nil
}

// derive decodes, folds and stores a record. What panics is an error: nothing
// in a record may stop the views.
func (b *batch) derive(ctx context.Context, e events.Entry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	r := folded{Record: fold.Decode(e.Record), row: e.Row, outcome: fold.Outcome{Reason: fold.ReasonNotFolded}, batch: b}
	if id := r.Envelope.SessionID; id != "" {
		s, err := b.audit.sessions.get(ctx, id, e.Row)
		if err != nil {
			return err
		}
		r.session, r.traces = s.Session, &s.traces
		if r.outcome, err = b.move(r.Record, r.row, s); err != nil {
			return err
		}
	}
	if err := b.delta.take(ctx, r, b.audit.source); err != nil {
		return err
	}
	if r.Err != nil {
		return b.unreadable(e, r)
	}
	return r.store()
}

// move applies a record to its session.
func (b *batch) move(r fold.Record, row int64, s *session) (fold.Outcome, error) {
	if !s.changed {
		b.sessions = append(b.sessions, s)
	}
	b.audit.sessions.records++
	m, err := s.apply(r, row)
	if err != nil {
		return m.Outcome, err
	}
	b.found = append(b.found, m.texts...)
	for _, approver := range m.asked {
		b.exec("INSERT INTO asked (session, approver) VALUES (?, ?)", s.ID, approver)
	}
	if !m.Counts {
		b.exec("INSERT INTO uncounted (row, reason) VALUES (?, ?)", row, string(m.Reason))
	}
	return m.Outcome, nil
}

// skip sets a record aside that the tables refuse.
func (a *audit) skip(ctx context.Context, e events.Entry, why error) (*changes, error) {
	b := &batch{changes: &changes{delta: a.book.begin()}, audit: a}
	if err := b.seal(e.Record, e.Row); err != nil {
		return nil, err
	}
	b.setAside(e, why.Error())
	return b.changes, b.finish(ctx)
}

// unreadable keeps what this build cannot read. A type of another build that
// moves nothing is shown as any other record; all else is set aside.
func (b *batch) unreadable(e events.Entry, r folded) error {
	if errors.Is(r.Err, events.ErrUnknownType) && !r.Envelope.Critical {
		return nil
	}
	b.setAside(e, r.Err.Error())
	return nil
}

func (b *batch) setAside(e events.Entry, reason string) {
	p := e.Record.Position()
	b.delta.add(famAside, labels{auditName, reasonAside}, tally{n: 1})
	b.exec("INSERT OR REPLACE INTO aside (row, log_time, part, off, reason, raw) VALUES (?, ?, ?, ?, ?, ?)",
		e.Row, p.LogTime, p.Partition, off(p), reason, e.Record.Envelope)
}

// finish stores what changed as it is now, the texts, and the position behind
// the batch: however many records moved a call, it is written once.
func (b *batch) finish(ctx context.Context) error {
	for _, s := range b.sessions {
		if err := b.put(s); err != nil {
			return err
		}
		s.written()
	}
	if err := b.index(ctx); err != nil {
		return err
	}
	a := b.audit
	a.sessions.trim()
	if err := a.heads.save(b.changes); err != nil {
		return err
	}
	p := a.position
	b.exec(`INSERT INTO progress (name, stamp, row, log_time, part, off, leaf) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET row = excluded.row, log_time = excluded.log_time, part = excluded.part,
			off = excluded.off, leaf = excluded.leaf`,
		auditName, stamp(), a.row, p.LogTime, p.Partition, off(p), a.leaf[:])
	b.row, b.status = a.row, a.status()
	return nil
}

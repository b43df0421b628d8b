package projections

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// NoticeKind says what a record moved. It goes over the wire.
type NoticeKind string

// The kinds of notices.
const (
	NoticeRequest NoticeKind = "request" // a request was asked, decided, changed, revoked
	NoticeCall    NoticeKind = "call"    // a call was proposed, started, ended
	NoticeSession NoticeKind = "session" // anything else in a session
	NoticeAccess  NoticeKind = "access"  // somebody did something; for auditors
	NoticeSystem  NoticeKind = "system"  // what belongs to no session
)

// Notice says that a record moved something, and what by name: never a text.
type Notice struct {
	Row     int64 // this node's own
	At      events.Position
	Kind    NoticeKind
	Type    events.Type // of the record; "" where it cannot be read
	Session string      // "" where it belongs to none
	Key     events.CallKey
	Request string // of the call, or the one that was moved; "" none
	Waits   bool   // whether Request is undecided as the views stand
	// Audience is who may see it besides auditors. nil: everybody who may use
	// the console, or auditors alone where it is of kind access.
	Audience *Audience
}

// Place is how far the views have come.
type Place struct {
	Row   int64             // this node's own
	At    events.Position   // of the last record read
	Sizes map[uint32]uint64 // records read, by partition
}

// Place returns how far the views have come, as committed.
func (v *Views) Place(ctx context.Context) (Place, error) {
	// It is short, and a transaction that is cut costs its connection; which is
	// all there is of views in memory.
	ctx = context.WithoutCancel(ctx)
	p := Place{Sizes: map[uint32]uint64{}}
	err := v.atOnce(ctx, func(tx *sql.Tx) error {
		at, err := first(ctx, tx, func(scan func(...any) error) (at place, err error) {
			return at, scan(append([]any{&p.Row}, at.dest()...)...)
		}, "SELECT row, log_time, part, off FROM progress WHERE name = ?", auditName)
		if err != nil {
			return err
		}
		p.At = at.position()
		h, err := loadHeads(ctx, tx)
		for partition, f := range h {
			p.Sizes[partition] = f.Size()
		}
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return p, nil // before the first record
	}
	return p, err
}

// Notices returns what the records after a row moved, in the log's order on
// this node, up to the given row and at most limit of them. The views must hold
// these records: who hears of one finds it there.
func (v *Views) Notices(ctx context.Context, after, upTo int64, limit int) ([]Notice, error) {
	entries, err := v.opt.Source.Read(ctx, after, int(min(int64(limit), upTo-after)))
	if err != nil {
		return nil, fmt.Errorf("read the log after row %d: %w", after, err)
	}
	b := noticing{ctx: ctx, q: v.db, audiences: map[string]*Audience{}}
	notices := make([]Notice, 0, len(entries))
	for _, e := range entries {
		if e.Row > upTo {
			break
		}
		n := noticeOf(e)
		if err := b.complete(&n); err != nil {
			return nil, err
		}
		notices = append(notices, n)
	}
	return notices, nil
}

// noticeOf is what the record itself tells.
func noticeOf(e events.Entry) Notice {
	r := decode(e.Record)
	n := Notice{Row: e.Row, At: e.Record.Position(), Kind: NoticeSystem, Session: r.Envelope.SessionID}
	if n.Session != "" {
		n.Kind = NoticeSession
	}
	if r.Err != nil {
		return n
	}
	n.Type = r.Envelope.Type
	n.names(r.Event)
	return n
}

// decode is fold.Decode for a reader that nothing in a record may stop.
func decode(record events.Record) (r fold.Record) {
	defer func() {
		if p := recover(); p != nil {
			r = fold.Record{Position: record.Position(), Err: fmt.Errorf("panic: %v", p)}
		}
	}()
	return fold.Decode(record)
}

// names sets what an event is about.
func (n *Notice) names(e events.Event) {
	switch e := e.(type) {
	case *events.ToolCall:
		n.Kind, n.Key = NoticeCall, e.CallKey
	case *events.ToolStarted:
		n.Kind, n.Key = NoticeCall, e.CallKey
	case *events.ToolResult:
		n.Kind, n.Key = NoticeCall, e.CallKey
	case *events.ApprovalRequest:
		n.Kind, n.Key, n.Request = NoticeRequest, e.CallKey, e.RequestID
	case *events.Revision:
		n.Kind, n.Request = NoticeRequest, e.RequestID
	case *events.Decision:
		n.Kind, n.Request = NoticeRequest, e.RequestID
	case *events.Revocation:
		n.Kind, n.Request = NoticeRequest, e.RequestID
	case *events.Access:
		n.Kind = NoticeAccess
	default: // a notice of its session or of the system, as it is
	}
}

// noticing asks the views what records alone do not tell.
type noticing struct {
	ctx       context.Context
	q         querier
	audiences map[string]*Audience
}

func (b *noticing) complete(n *Notice) error {
	if n.Session == "" {
		return nil
	}
	a := b.audiences[n.Session]
	if a == nil {
		var err error
		if a, err = audience(b.ctx, b.q, n.Session); err != nil {
			return err
		}
		b.audiences[n.Session] = a
	}
	n.Audience = a
	switch n.Kind {
	case NoticeRequest:
		return b.request(n)
	case NoticeCall:
		return b.call(n)
	case NoticeSession, NoticeAccess, NoticeSystem:
	}
	return nil
}

func (b *noticing) request(n *Notice) error {
	return b.ask([]any{&n.Waits}, "SELECT state = 'pending' FROM requests WHERE id = ? AND session = ?", n.Request, n.Session)
}

func (b *noticing) call(n *Notice) error {
	return b.ask([]any{&n.Request, &n.Waits}, `SELECT c.request, coalesce(q.state, '') = 'pending' FROM calls c LEFT JOIN requests q ON q.id = c.request
		WHERE c.session = ? AND c.batch = ? AND c.idx = ?`, n.Session, n.Key.BatchID, n.Key.Index)
}

// ask reads the row that a query finds. It passes over what is not there: a
// record without effect has no row.
func (b *noticing) ask(into []any, query string, args ...any) error {
	_, err := first(b.ctx, b.q, func(scan func(...any) error) (struct{}, error) { return struct{}{}, scan(into...) }, query, args...)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

package projections

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/events"
)

// ErrNotFound is for a request, call or session that the views do not hold.
var ErrNotFound = errors.New("there is no such entry in the views")

// Source is the log as projections read it: its records and their texts.
type Source interface {
	Records
	Texts
}

// Records are the records of the log, in their order on this node.
type Records interface {
	// Head returns how many records the log has, without waiting.
	Head() uint64
	// Read returns up to limit entries after a row, in order, none if there
	// are none.
	Read(ctx context.Context, after int64, limit int) ([]events.Entry, error)
	// Wait returns when there is an entry after the row, or ctx ends.
	Wait(ctx context.Context, after int64) error
	// Session returns up to limit entries of one session after a row.
	Session(ctx context.Context, session string, after int64, limit int) ([]events.Entry, error)
}

// Texts are what records carry.
type Texts interface {
	// Payload returns the bytes that a reference names; carrier is the id of
	// the event that the reference stands in. events.ErrNoPayload if it was
	// erased.
	Payload(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error)
	// Payloads calls f with what the entries from row first to row last carry,
	// in order, until f returns false: the row, the ordinal in it, the
	// commitment, the bytes. What was erased is left out.
	Payloads(ctx context.Context, first, last int64, f func(row int64, ordinal int, commitment string, b []byte) bool) error
}

// Text returns the bytes that a reference names, which stands in the event of
// the given id. A nil reference has none.
func (v *Views) Text(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error) {
	if ref == nil {
		return nil, nil
	}
	return v.opt.Source.Payload(ctx, carrier, ref)
}

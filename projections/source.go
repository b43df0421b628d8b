package projections

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/events"
)

// ErrNotFound is for a request, call or session that the views do not hold.
var ErrNotFound = errors.New("there is no such entry in the views")

// Source is the log as projections read it.
type Source interface {
	// Read returns up to limit entries after a row, in order, none if there
	// are none.
	Read(ctx context.Context, after int64, limit int) ([]events.Entry, error)
	// Wait returns when there is an entry after the row, or ctx ends.
	Wait(ctx context.Context, after int64) error
	// Session returns up to limit entries of one session after a row.
	Session(ctx context.Context, session string, after int64, limit int) ([]events.Entry, error)
	// Payload returns the bytes that a reference names; carrier is the id of
	// the event that the reference stands in. events.ErrNoPayload if it was
	// erased.
	Payload(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error)
}

// Text returns the bytes that a reference names, which stands in the event of
// the given id. A nil reference has none.
func (v *Views) Text(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error) {
	if ref == nil {
		return nil, nil
	}
	return v.opt.Source.Payload(ctx, carrier, ref)
}

package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

const (
	selectAside = "SELECT log_time, part, off, reason, raw FROM aside"
	whereAside  = " WHERE part = ? AND off = ?"
)

// SetAside returns records that could not be read or stored, the oldest first.
func (v *Views) SetAside(ctx context.Context, limit int) ([]Aside, error) {
	return list(ctx, v.db, scanAside, selectAside+" ORDER BY row LIMIT ?", limit)
}

// AsideAt returns what was set aside at a place; ErrNotFound if nothing was.
func (v *Views) AsideAt(ctx context.Context, partition uint32, offset uint64) (Aside, error) {
	return first(ctx, v.db, scanAside, selectAside+whereAside, partition, off(events.Position{Offset: offset}))
}

func scanAside(scan func(...any) error) (Aside, error) {
	var a Aside
	var at place
	err := scan(append(at.dest(), &a.Reason, &a.Raw)...)
	a.At = at.position()
	return a, err
}

package projections

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// AccessLog returns acts on the record, the newest first.
func (v *Views) AccessLog(ctx context.Context, cursor string, limit int) (Page[Access], error) {
	const name = "access"
	where, args, err := before("access", cursor, name)
	if err != nil {
		return Page[Access]{}, err
	}
	items, err := list(ctx, v.db.Load().Read, scanAccess,
		"SELECT log_time, part, off, session, doc FROM access WHERE TRUE"+where+" ORDER BY log_time DESC, part DESC, off DESC LIMIT ?",
		append(args, limit+1)...)
	return pageOf(items, limit, name, func(a Access) events.Position { return a.At }), err
}

func scanAccess(scan func(...any) error) (Access, error) {
	var a Access
	var at place
	var text string
	if err := scan(append(at.dest(), &a.Session, &text)...); err != nil {
		return a, err
	}
	a.At = at.position()
	return a, undoc(text, &a.Access)
}

// Acted reports whether a person did something to a resource since a log time:
// what keeps a view from being recorded twice in an hour.
func (v *Views) Acted(ctx context.Context, person, action, resource string, since time.Time) (bool, error) {
	var yes bool
	err := v.db.Load().Read.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM access WHERE resource = ? AND person = ? AND action = ? AND log_time >= ?)",
		resource, person, action, since.UnixMicro()).Scan(&yes)
	return yes, err
}

// SetAside returns records that could not be read or stored, the oldest first.
func (v *Views) SetAside(ctx context.Context, limit int) ([]Aside, error) {
	return list(ctx, v.db.Load().Read, func(scan func(...any) error) (Aside, error) {
		var a Aside
		var at place
		err := scan(append(at.dest(), &a.Reason, &a.Raw)...)
		a.At = at.position()
		return a, err
	}, "SELECT log_time, part, off, reason, raw FROM aside ORDER BY row LIMIT ?", limit)
}

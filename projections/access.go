package projections

import (
	"context"
	"time"
)

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
	err := v.db.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM access WHERE resource = ? AND person = ? AND action = ? AND log_time >= ?)",
		resource, person, action, since.UnixMicro()).Scan(&yes)
	return yes, err
}

// SetAside returns records that could not be read or stored, the oldest first.
func (v *Views) SetAside(ctx context.Context, limit int) ([]Aside, error) {
	return list(ctx, v.db, func(scan func(...any) error) (Aside, error) {
		var a Aside
		var at place
		err := scan(append(at.dest(), &a.Reason, &a.Raw)...)
		a.At = at.position()
		return a, err
	}, "SELECT log_time, part, off, reason, raw FROM aside ORDER BY row LIMIT ?", limit)
}

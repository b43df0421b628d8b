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
	return first(ctx, v.db, one[bool],
		"SELECT EXISTS (SELECT 1 FROM access WHERE resource = ? AND person = ? AND action = ? AND log_time >= ?)",
		resource, person, action, since.UnixMicro())
}

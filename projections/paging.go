package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// Cursor returns the cursor that goes on from a place, towards what is older:
// the Next of a page of this filter that ended there.
func (f Filter) Cursor(at events.Position) string { return encodeCursor(at, f.listName()) }

// Place returns the place of a cursor of this filter. ErrCursor if it is of
// another one.
func (f Filter) Place(cursor string) (events.Position, error) {
	return decodeCursor(cursor, f.listName())
}

// People returns the ids of people whose name the log ever told, in order, up to
// limit.
func (v *Views) People(ctx context.Context, limit int) ([]string, error) {
	return list(ctx, v.db, func(scan func(...any) error) (s string, err error) { return s, scan(&s) },
		"SELECT person FROM people ORDER BY person LIMIT ?", limit)
}

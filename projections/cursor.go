package projections

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/events"
)

// ErrCursor is for a cursor that these views did not hand out for this list.
var ErrCursor = errors.New("the cursor is not one of this list")

// Page is a part of a list. Next continues it, "" where it is the last; it is
// bound to the list's filter.
type Page[T any] struct {
	Items []T
	Next  string
	// Reached is how far back a search looked before its work for one page was
	// done; Next goes on from there. Zero where the page is full, or the last.
	Reached events.Position
}

// encodeCursor names the place before which, or after which, a list goes on.
func encodeCursor(p events.Position, list string) string {
	return fmt.Sprintf("%d-%d-%d-%s", p.LogTime, p.Partition, p.Offset, mark(list))
}

// mark binds a cursor to a list and its filter.
func mark(list string) string { return string(events.DigestOf([]byte(list))[:8]) }

func decodeCursor(cursor, list string) (events.Position, error) {
	parts := strings.Split(cursor, "-")
	if len(parts) != 4 || parts[3] != mark(list) {
		return events.Position{}, fmt.Errorf("%w: %.60q", ErrCursor, cursor)
	}
	logTime, err1 := strconv.ParseInt(parts[0], 10, 64)
	partition, err2 := strconv.ParseUint(parts[1], 10, 32)
	offset, err3 := strconv.ParseUint(parts[2], 10, 63)
	if err1 != nil || err2 != nil || err3 != nil {
		return events.Position{}, fmt.Errorf("%w: %.60q", ErrCursor, cursor)
	}
	return events.Position{LogTime: logTime, Partition: uint32(partition), Offset: offset}, nil
}

// Cursor returns the cursor that goes on from a place, towards what is older:
// the Next of a page of this filter that ended there.
func (f Filter) Cursor(at events.Position) string { return encodeCursor(at, f.listName()) }

// Place returns the place of a cursor of this filter. ErrCursor if it is of
// another one.
func (f Filter) Place(cursor string) (events.Position, error) {
	return decodeCursor(cursor, f.listName())
}

// before returns the condition and its arguments for what lies before a
// cursor, and nothing where there is none.
func before(table, cursor, list string) (string, []any, error) {
	if cursor == "" {
		return "", nil, nil
	}
	p, err := decodeCursor(cursor, list)
	if err != nil {
		return "", nil, err
	}
	return " AND (" + table + ".log_time, " + table + ".part, " + table + ".off) < (?, ?, ?)",
		[]any{p.LogTime, p.Partition, off(p)}, nil
}

// pageOf makes a page of up to limit items out of limit+1.
func pageOf[T any](items []T, limit int, list string, at func(T) events.Position) Page[T] {
	if len(items) <= limit {
		return Page[T]{Items: items}
	}
	items = items[:limit]
	return Page[T]{Items: items, Next: encodeCursor(at(items[limit-1]), list)}
}

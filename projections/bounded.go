package projections

import (
	"context"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// condition is a part of a WHERE clause, with its parameters.
type condition struct {
	text strings.Builder
	args []any
}

func (c *condition) and(text string, args ...any) {
	c.text.WriteString(" AND " + text)
	c.args = append(c.args, args...)
}

// equal narrows a column to a value, where there is one.
func (c *condition) equal(column, value string) {
	if value != "" {
		c.and(column+" = ?", value)
	}
}

// within narrows a column of log times to a span; a zero time is open.
func (c *condition) within(column string, from, until time.Time) {
	if !from.IsZero() {
		c.and(column+" >= ?", micro(from))
	}
	if !until.IsZero() {
		c.and(column+" < ?", micro(until))
	}
}

// boundedScan is how many rows a page of a bounded list looks at.
const boundedScan = 10_000

// bounded is a list of a table's rows, the newest first, in which a page looks at
// no more than boundedScan rows. So what is rare in a long list is found over
// several pages, each of them fast.
type bounded struct {
	table, columns string
	name           string    // of the list with its filter
	looked         condition // what an index answers: the rows that are looked at
	rest           condition // what is asked of each of them
}

// newest orders rows as lists show them.
const newest = " ORDER BY log_time DESC, part DESC, off DESC"

// page reads a page of a bounded list. Where it ends before it is full and there
// is more to look at, it says how far back it looked.
func page[T any](ctx context.Context, q querier, b *bounded, cursor string, limit int,
	scan func(func(...any) error) (T, error), at func(T) events.Position,
) (Page[T], error) {
	place, args, err := before(b.table, cursor, b.name)
	if err != nil {
		return Page[T]{}, err
	}
	looked := " FROM " + b.table + " WHERE TRUE" + place + b.looked.text.String() + newest
	args = append(args, b.looked.args...)
	all := append(append(append([]any{}, args...), boundedScan), b.rest.args...)
	items, err := list(ctx, q, scan, "SELECT "+b.columns+" FROM (SELECT *"+looked+" LIMIT ?) AS "+b.table+
		" WHERE TRUE"+b.rest.text.String()+newest+" LIMIT ?", append(all, limit+1)...)
	p := pageOf(items, limit, b.name, at)
	if err != nil || p.Next != "" {
		return p, err
	}
	last, err := list(ctx, q, scanPlace, "SELECT log_time, part, off"+looked+" LIMIT 1 OFFSET ?", append(args, boundedScan-1)...)
	if err == nil && len(last) > 0 {
		p.Reached, p.Next = last[0], encodeCursor(last[0], b.name)
	}
	return p, err
}

func scanPlace(scan func(...any) error) (events.Position, error) {
	var at place
	err := scan(at.dest()...)
	return at.position(), err
}

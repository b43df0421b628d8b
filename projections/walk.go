package projections

import (
	"context"
	"strings"

	"github.com/countersign-dev/countersign/events"
)

// A page of a history is found by walking along calls in the order of the list
// and looking at each. How many a page looks at is bounded, so that what is rare
// in a long log is found over several pages, each of them fast.
const (
	lookAtCalls = 4096    // calls, at their columns
	lookAtTexts = 768     // texts of theirs, in the journal
	lookAtBytes = 4 << 20 // of those texts
)

// looked is a call that a walk came by.
type looked struct {
	row int64
	at  events.Position
	ok  bool // the filter admits it, but for its text
	// texts are, by term, those in which the index has it; nil where it does not
	// tell, or not all.
	texts [][]int64
}

// walker finds the calls that a page looks at.
type walker interface {
	// next returns about n calls further on. end says that there are no more;
	// fewer without it say that enough was done for one page.
	next(ctx context.Context, n int) (calls []looked, end bool, err error)
}

// alongIndex walks along the index of one of the filter's ways.
type alongIndex struct {
	v       *Views
	f       Filter
	way     way
	forward bool            // the oldest first
	at      events.Position // go on from here
}

func (a *alongIndex) next(ctx context.Context, n int) (found []looked, end bool, err error) {
	where, whereArgs := a.f.where()
	values := a.way.values
	if len(values) == 0 {
		values = []string{""}
	}
	var parts []string
	var args []any
	for _, value := range values {
		part, more := a.part(value, n)
		parts, args = append(parts, "SELECT * FROM ("+part+")"), append(args, more...)
	}
	order := a.order("")
	query := "SELECT c.row, c.log_time, c.part, c.off, " + where + " FROM (" + strings.Join(parts, " UNION ALL ") + order + " LIMIT ?) s" +
		" CROSS JOIN calls c ON c.row = s.row" + a.order("s.")
	all := append(append(append([]any{}, whereArgs...), args...), n)
	found, err = list(ctx, a.v.db, scanLooked, query, all...)
	if len(found) > 0 {
		a.at = found[len(found)-1].at
	}
	return found, len(found) < n, err
}

// part finds calls of one value, in order.
func (a *alongIndex) part(value string, n int) (string, []any) {
	condition, args := "TRUE", []any(nil)
	if len(a.way.values) > 0 {
		condition, args = "c."+a.way.column+" = ?", []any{value}
	}
	if a.way.column == "decider" {
		condition += " AND c.decider <> ''" // or the index could not be used
	}
	span, more := a.f.span()
	args = append(args, more...)
	if reached(a.at) {
		sign := " < "
		if a.forward {
			sign = " > "
		}
		span += " AND (c.log_time, c.part, c.off)" + sign + "(?, ?, ?)"
		args = append(args, a.at.LogTime, a.at.Partition, off(a.at))
	}
	return "SELECT c.row, c.log_time, c.part, c.off FROM calls c INDEXED BY " + a.way.index + " WHERE " + condition + span + a.order("c.") + " LIMIT ?",
		append(args, n)
}

func (a *alongIndex) order(t string) string {
	if a.forward {
		return " ORDER BY " + t + "log_time, " + t + "part, " + t + "off"
	}
	return " ORDER BY " + t + "log_time DESC, " + t + "part DESC, " + t + "off DESC"
}

func scanLooked(scan func(...any) error) (l looked, err error) {
	var at place
	err = scan(append(append([]any{&l.row}, at.dest()...), &l.ok)...)
	l.at = at.position()
	return l, err
}

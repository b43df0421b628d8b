package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// alongText walks along the calls in whose texts the index has all terms. They
// come in the order of their rows, which is that of their places as long as the
// log has one partition.
type alongText struct {
	v       *Views
	f       Filter
	terms   int
	finders []*finder // of the terms that the index knows
	below   int64     // the next call's row is below it
	least   int64     // and not below this
	budget  int       // how often the index may still be asked
}

const (
	// askIndex is how often a page asks the index: some milliseconds each in a
	// long log.
	askIndex = 12
	// askAtOnce is for how many texts it is asked at first. Several terms mostly
	// skip what they get.
	askAtOnce, askFirst = 128, 16
)

func (v *Views) alongText(ctx context.Context, f Filter, terms []term, from events.Position) (*alongText, error) {
	a := &alongText{v: v, f: f, budget: askIndex}
	for i, t := range terms {
		if t.indexed() {
			a.finders = append(a.finders, &finder{v: v, term: t, n: i, size: askFirst})
		}
	}
	if len(a.finders) == 1 {
		a.finders[0].size = askAtOnce
	}
	a.terms = len(terms)
	until := from
	if t := micro(f.Until); t != 0 && (!reached(from) || t < from.LogTime) {
		until = events.Position{LogTime: t}
	}
	var err error
	if a.below, err = v.rowBefore(ctx, until); err != nil {
		return nil, err
	}
	a.below++
	if t := micro(f.From); t != 0 {
		a.least, err = v.rowBefore(ctx, events.Position{LogTime: t})
		a.least++
	}
	return a, err
}

// rowBefore returns the row of the last call before a place, or of the last one
// at all where the place is zero; 0 if there is none.
func (v *Views) rowBefore(ctx context.Context, p events.Position) (int64, error) {
	where, args := "", []any(nil)
	if reached(p) {
		where, args = " WHERE (log_time, part, off) < (?, ?, ?)", []any{p.LogTime, p.Partition, off(p)}
	}
	rows, err := list(ctx, v.db, func(scan func(...any) error) (row int64, err error) { return row, scan(&row) },
		"SELECT row FROM calls INDEXED BY calls_place"+where+newest+" LIMIT 1", args...)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0], nil
}

func (a *alongText) next(ctx context.Context, n int) (found []looked, end bool, err error) {
	var rows []int64
	texts := map[int64][][]int64{}
	out := int64(0) // how far the index was asked, when the budget was used up
	for len(rows) < n && !end && out == 0 {
		row, agreed, err := a.agree(ctx)
		if err != nil {
			return nil, false, err
		}
		switch {
		case agreed:
			rows, texts[row] = append(rows, row), a.textsOf(row)
			a.below = row
		case row == 0:
			end = true
		default:
			out = row
		}
	}
	where, args := a.f.where()
	found, err = list(ctx, a.v.db, scanLooked, "SELECT c.row, c.log_time, c.part, c.off, "+where+
		" FROM json_each(?) j CROSS JOIN calls c ON c.row = j.value ORDER BY j.key", append(args, idsOf(rows))...)
	for i := range found {
		found[i].texts = texts[found[i].row]
	}
	if err != nil || out == 0 {
		return found, end, err
	}
	last, err := list(ctx, a.v.db, scanLooked, "SELECT row, log_time, part, off, FALSE FROM calls WHERE row > ? ORDER BY row LIMIT 1", out)
	return append(found, last...), false, err
}

// agree returns the next call that all terms have, 0 if there is none: each says
// where it goes on, and the one that goes on furthest back leads the others.
// Where the budget is used up before they agree, none above the row has them.
func (a *alongText) agree(ctx context.Context) (row int64, agreed bool, err error) {
	row = a.below - 1
	for n := 0; n < len(a.finders); {
		if row < max(a.least, 1) {
			return 0, false, nil
		}
		f := a.finders[n]
		at, known, err := f.seek(ctx, row, &a.budget)
		if err != nil || !known {
			return row, false, err
		}
		if n++; at < row {
			row = at
			a.finders[0], a.finders[n-1] = f, a.finders[0]
			n = 1
		}
	}
	return row, true, nil
}

// textsOf returns, by term, in which texts of a call the index has it.
func (a *alongText) textsOf(row int64) [][]int64 {
	texts := make([][]int64, a.terms)
	for _, f := range a.finders {
		texts[f.n] = f.textsOf(row)
	}
	return texts
}

// finder walks along the calls in which the index has one term.
type finder struct {
	v    *Views
	term term
	n    int     // the term's number
	ids  []int64 // of texts, the newest first
	size int64   // how many are asked for next
	done bool    // there are no more
}

// seek returns the newest call at or below a row that has the term, 0 if there
// is none. It is not known where the budget is used up.
func (f *finder) seek(ctx context.Context, row int64, budget *int) (at int64, known bool, err error) {
	for {
		for len(f.ids) > 0 && f.ids[0]/textsOfCall > row {
			f.ids = f.ids[1:]
		}
		switch {
		case len(f.ids) > 0:
			return f.ids[0] / textsOfCall, true, nil
		case f.done:
			return 0, true, nil
		case *budget <= 0:
			return 0, false, nil
		}
		*budget--
		if err := f.fetch(ctx, row); err != nil {
			return 0, false, err
		}
	}
}

// textsOf returns the texts of a call that was found last, nil where the index
// was not asked for all of them.
func (f *finder) textsOf(row int64) []int64 {
	n := 0
	for n < len(f.ids) && f.ids[n]/textsOfCall == row {
		n++
	}
	if n == len(f.ids) && !f.done {
		return nil
	}
	return f.ids[:n:n]
}

// fetch asks the index from a row on: for more each time.
func (f *finder) fetch(ctx context.Context, row int64) (err error) {
	f.ids, err = list(ctx, f.v.db, func(scan func(...any) error) (id int64, err error) { return id, scan(&id) },
		"SELECT rowid FROM grams WHERE grams MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?", f.term.match(), idOfText(row+1, 0), f.size)
	f.done = int64(len(f.ids)) < f.size
	f.size = min(4*f.size, 512)
	return err
}

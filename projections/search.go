package projections

import (
	"context"
	"time"

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
	budget  *askBudget
}

// askBudget is what a page may still cost the index. What it has to do to find
// a term, nobody can know before: in the worst case it holds each of the term's
// trigrams against all texts. So it is asked for a stretch of the log at a time,
// and once that took long in all, not any more.
type askBudget struct {
	asks int           // how often it may be asked
	left time.Duration // how long that may take
	free int64         // of how many records the time does not matter
}

const (
	// askIndex is how often a page asks the index, askFor for how long.
	askIndex, askFor = 24, 12 * time.Millisecond
	// askFree is of how many records it is always asked.
	askFree = 128 << 10
	// stretchFirst is of how many records it is asked at first. The stretch
	// becomes longer as long as an answer takes less than askQuick.
	stretchFirst, askQuick = 32 << 10, 2 * time.Millisecond
)

func (b *askBudget) spent() bool { return b.asks <= 0 || b.left <= 0 && b.free <= 0 }

func (v *Views) alongText(ctx context.Context, f Filter, terms []term, from events.Position) (*alongText, error) {
	a := &alongText{v: v, f: f, terms: len(terms), budget: &askBudget{asks: askIndex, left: askFor, free: askFree}}
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
	a.find(terms)
	return a, err
}

// find gives each term that the index knows its finder.
func (a *alongText) find(terms []term) {
	for i, t := range terms {
		if t.indexed() {
			a.finders = append(a.finders, &finder{v: a.v, term: t, n: i, stretch: stretchFirst, from: a.below, least: max(a.least, 1)})
		}
	}
}

// rowBefore returns the row of the last call before a place, or of the last one
// at all where the place is zero; 0 if there is none.
func (v *Views) rowBefore(ctx context.Context, p events.Position) (int64, error) {
	where, args := "", []any(nil)
	if reached(p) {
		where, args = " WHERE (log_time, part, off) < (?, ?, ?)", []any{p.LogTime, p.Partition, off(p)}
	}
	rows, err := list(ctx, v.db, one[int64], "SELECT row FROM calls INDEXED BY calls_place"+where+newest+" LIMIT 1", args...)
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
		at, known, err := f.seek(ctx, row, a.budget)
		if err != nil || !known {
			return at, false, err
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
	v     *Views
	term  term
	n     int   // the term's number
	least int64 // rows below it do not matter

	ids     []int64 // of texts, the newest first
	from    int64   // ids are all from this row on, below those that were passed by
	asked   bool    // at all
	stretch int64   // of how many rows the index is asked next
}

// seek returns the newest call at or below a row that has the term, 0 if there
// is none. Where the budget is spent it is not known, and no call above the row
// that is returned has it.
func (f *finder) seek(ctx context.Context, row int64, budget *askBudget) (at int64, known bool, err error) {
	for {
		for len(f.ids) > 0 && f.ids[0]/textsOfCall > row {
			f.ids = f.ids[1:]
		}
		next := min(row, f.from-1)
		switch {
		case len(f.ids) > 0:
			return f.ids[0] / textsOfCall, true, nil
		case next < f.least:
			return 0, true, nil
		case f.asked && budget.spent(): // each finder is asked once, so that every page comes further
			return next, false, nil
		}
		if err := f.fetch(ctx, next, budget); err != nil {
			return 0, false, err
		}
	}
}

// textsOf returns the texts of a call that was found last.
func (f *finder) textsOf(row int64) []int64 {
	n := 0
	for n < len(f.ids) && f.ids[n]/textsOfCall == row {
		n++
	}
	return f.ids[:n:n]
}

// fetch asks the index from a row on: for more each time.
func (f *finder) fetch(ctx context.Context, row int64, budget *askBudget) (err error) {
	f.asked, f.from = true, max(f.least, row-f.stretch+1)
	began := time.Now()
	f.ids, err = f.v.textsWith(ctx, f.term, f.from, row)
	took := time.Since(began)
	budget.asks, budget.left = budget.asks-1, budget.left-took
	if took < askQuick {
		f.stretch *= 4
	}
	budget.free -= row - f.from + 1
	return err
}

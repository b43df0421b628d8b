package projections

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
)

// probeGrams is how many grams of a term that has more are looked up at first:
// what is rare lacks one of them in most segments.
const probeGrams = 3

// textsWith returns the ids of the texts of the calls from row first to row last
// that may have a term, the newest first. All of it is of one moment, so that
// segments that are merged meanwhile are seen as they were.
func (v *Views) textsWith(ctx context.Context, t term, first, last int64) (ids []int64, err error) {
	all, long := t.grams()
	from, to := idOfText(first, 0), idOfText(last+1, 0)-1
	err = v.atOnce(ctx, func(tx *sql.Tx) error {
		segments, err := list(ctx, tx, one[int64], "SELECT no FROM segments WHERE first <= ? AND last >= ? ORDER BY no", to, from)
		if n := len(all); err == nil && n > 2*probeGrams {
			probe := lookup{all: probeGrams}
			err = probe.run(ctx, tx, segments, []uint64{all[0], all[n/2], all[n-1]})
			segments = probe.segments
		}
		if err != nil {
			return err
		}
		l := lookup{all: len(all), long: len(long), texts: true, first: from, last: to}
		err = l.run(ctx, tx, segments, append(append([]uint64{idsOfTexts}, all...), long...))
		ids = l.ids
		return err
	})
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(b, a) })
	return ids, err
}

// lookup holds grams against segments, one after the other.
type lookup struct {
	all, long   int   // how many grams there are
	texts       bool  // it is asked which texts have them, and not only which segments
	first, last int64 // which texts matter
	ids         []int64
	segments    []int64 // in which texts have all grams

	// Of the segment of now:
	no             int64
	n              int    // of its texts
	stored         []byte // which texts they are
	has, hasLong   textSet
	seen, seenLong int // of how many grams
	room           textSet
}

// run looks grams up in segments.
func (l *lookup) run(ctx context.Context, tx *sql.Tx, segments []int64, grams []uint64) error {
	_, err := list(ctx, tx, func(scan func(...any) error) (none struct{}, err error) {
		var no int64
		var n int
		var gram uint64
		var page sql.RawBytes
		if err := scan(&no, &n, &gram, &page); err != nil {
			return none, err
		}
		return none, l.take(no, n, gram, page)
	}, `SELECT s.no, s.texts, k.value, (SELECT page FROM grams WHERE id <= s.no << ? | k.value AND id >= s.no << ? ORDER BY id DESC LIMIT 1)
		FROM json_each(?) w CROSS JOIN segments s ON s.no = w.value CROSS JOIN json_each(?) k`, gramBits, gramBits, idsOf(segments), idsOf(grams))
	if err != nil {
		return err
	}
	return l.finish()
}

// take takes the page of a segment of n texts in which a gram would be.
func (l *lookup) take(no int64, n int, gram uint64, page []byte) error {
	if no != l.no {
		if err := l.finish(); err != nil {
			return err
		}
		if n < 1 || n > maxTexts {
			return errPostings
		}
		l.no, l.n, l.seen, l.seenLong = no, n, 0, 0
		l.has, l.hasLong, l.stored = l.has.fill(n), l.hasLong.fill(n), l.stored[:0]
	}
	stored, err := find(page, gram)
	switch {
	case err != nil || stored == nil:
		return err
	case gram == idsOfTexts:
		l.stored = append(l.stored, stored...)
	case gram&longNumber != 0:
		l.seenLong++
		return l.hasLong.keep(stored, n, &l.room)
	default:
		l.seen++
		return l.has.keep(stored, n, &l.room)
	}
	return nil
}

// finish notes what a segment has.
func (l *lookup) finish() error {
	switch {
	case l.no == 0:
		return nil
	case l.texts && len(l.stored) == 0:
		return errPostings
	case l.seen < l.all || !slices.ContainsFunc(l.has, func(b byte) bool { return b != 0 }):
		return nil
	case l.texts:
		return l.note()
	}
	l.segments = append(l.segments, l.no)
	return nil
}

// note notes the texts of a segment that have all grams.
func (l *lookup) note() error {
	if l.seenLong < l.long {
		clear(l.hasLong)
	}
	i := 0
	err := eachText(l.stored, func(id int64, long bool) bool {
		if i < l.n && l.has.has(i) && l.first <= id && id <= l.last && (!long || l.hasLong.has(i)) {
			l.ids = append(l.ids, id)
		}
		i++
		return true
	})
	if err == nil && i != l.n {
		err = errPostings
	}
	return err
}

package projections

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
)

// textsWith returns the ids of the texts of the calls from row first to row last
// that may have a term, the newest first. It is one query, so that segments that
// are merged meanwhile are seen as they were before or as they are now, and not
// in part.
func (v *Views) textsWith(ctx context.Context, t term, first, last int64) ([]int64, error) {
	all, long := t.grams()
	l := lookup{all: len(all), long: len(long), first: idOfText(first, 0), last: idOfText(last+1, 0) - 1}
	_, err := list(ctx, v.db, func(scan func(...any) error) (none struct{}, err error) {
		var no, gram int64
		var n int
		var page sql.RawBytes
		if err := scan(&no, &n, &gram, &page); err != nil {
			return none, err
		}
		return none, l.take(no, n, gram, page)
	}, `SELECT s.no, s.texts, k.value, (SELECT page FROM grams WHERE segment = s.no AND gram <= k.value ORDER BY gram DESC LIMIT 1)
		FROM segments s CROSS JOIN json_each(?) k WHERE s.first <= ? AND s.last >= ? ORDER BY s.no`,
		keysOf(append(all, long...)), l.last, l.first)
	if err == nil {
		if err = l.finish(); err != nil {
			err = note(v.db, err)
		}
	}
	slices.SortFunc(l.ids, func(a, b int64) int { return cmp.Compare(b, a) })
	return l.ids, err
}

// keysOf is a list of grams, and that of the ids, for a query.
func keysOf(grams []uint64) string {
	out := strconv.AppendInt([]byte{'['}, idsOfTexts, 10)
	for _, g := range grams {
		out = strconv.AppendInt(append(out, ','), int64(g), 10) //nolint:gosec // grams are stored so
	}
	return string(append(out, ']'))
}

// lookup holds the grams of a term against segments, one after the other.
type lookup struct {
	all, long   int   // how many grams there are
	first, last int64 // which texts matter
	ids         []int64

	// Of the segment of now:
	no             int64
	n              int // of its texts
	texts          []byte
	has, hasLong   textSet // the texts that have all grams so far
	seen, seenLong int     // of how many grams
	room           textSet
}

// take takes the page of a segment of n texts in which a gram would be.
func (l *lookup) take(no int64, n int, gram int64, page []byte) error {
	if no != l.no {
		if err := l.finish(); err != nil {
			return err
		}
		if n < 1 || n > maxTexts {
			return errPostings
		}
		l.no, l.n, l.seen, l.seenLong = no, n, 0, 0
		l.has, l.hasLong, l.texts = l.has.fill(n), l.hasLong.fill(n), l.texts[:0]
	}
	texts, err := find(page, gram)
	switch {
	case err != nil || texts == nil:
		return err
	case gram == idsOfTexts:
		l.texts = append(l.texts, texts...)
	case gram < 0:
		l.seenLong++
		return l.hasLong.keep(texts, n, &l.room)
	default:
		l.seen++
		return l.has.keep(texts, n, &l.room)
	}
	return nil
}

// finish notes the texts of a segment that have all grams.
func (l *lookup) finish() error {
	switch {
	case l.no == 0:
		return nil
	case len(l.texts) == 0:
		return errPostings
	case l.seen < l.all:
		return nil
	}
	if l.seenLong < l.long {
		clear(l.hasLong)
	}
	i := 0
	err := eachText(l.texts, func(id int64, long bool) bool {
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

package generate

import (
	"slices"
	"time"
)

// week says when sessions begin: in office hours more than at night, on working
// days more than at weekends.
type week struct {
	from  time.Time
	until time.Time
	sum   []float64 // work done at the end of each hour since from
}

func newWeek(from, until time.Time) *week {
	w := &week{from: from, until: until}
	total := 0.0
	for at := from; at.Before(until); at = at.Add(time.Hour) {
		total += busy(at)
		w.sum = append(w.sum, total)
	}
	return w
}

// busy is how much is done in the hour of t, against the busiest.
func busy(t time.Time) float64 {
	work := 0.08
	switch h := t.Hour(); {
	case h >= 9 && h < 12, h >= 13 && h < 18:
		work = 1
	case h >= 7 && h < 20:
		work = 0.5
	}
	if d := t.Weekday(); d == time.Saturday || d == time.Sunday {
		work *= 0.15
	}
	return work
}

// at is when a share of all the work is done, from 0 to 1.
func (w *week) at(share float64) time.Time {
	goal := min(max(share, 0), 1) * w.sum[len(w.sum)-1]
	i, _ := slices.BinarySearch(w.sum, goal)
	before := 0.0
	if i > 0 {
		before = w.sum[i-1]
	}
	into := time.Duration((goal - before) / (w.sum[i] - before) * float64(time.Hour))
	at := w.from.Add(time.Duration(i)*time.Hour + into).Truncate(time.Millisecond)
	if at.After(w.until) {
		return w.until
	}
	return at
}

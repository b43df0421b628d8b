package bench

import (
	"cmp"
	"slices"
	"time"
)

// figures is what one round measured.
type figures struct {
	p50, p99  time.Duration
	perSecond float64       // events
	cpu       time.Duration // of the process, user and system, for each event
}

// summarize sorts what was measured, which must not be empty.
func summarize(took []time.Duration) figures {
	slices.Sort(took)
	return figures{p50: took[len(took)/2], p99: took[len(took)*99/100]}
}

// median returns the middle of what a function finds in many.
func median[T any, N cmp.Ordered](all []T, of func(T) N) N {
	values := make([]N, 0, len(all))
	for _, one := range all {
		values = append(values, of(one))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// pair is a round of ours and a round of the limit, taken in turn.
type pair struct{ ours, limit figures }

func (p pair) p50() float64  { return p.ours.p50.Seconds() / p.limit.p50.Seconds() }
func (p pair) p99() float64  { return p.ours.p99.Seconds() / p.limit.p99.Seconds() }
func (p pair) rate() float64 { return p.ours.perSecond / p.limit.perSecond }

package ui

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// stretch is a piece of a timeline's axis, in percent of its width. Idle ones
// are drawn short, and as a break.
type stretch struct {
	From, To time.Time
	X, Width float64
	Idle     bool
}

// axis is where times stand on a timeline. What is busy has its true
// proportions; long times in which nothing happened are drawn short.
type axis []stretch

const (
	shortest = 30 * time.Second // an idle time below it is never drawn short
	idleIn   = 6                // nor one below this part of the busy time
	idleWide = 3.0              // percent of the width that one takes
	idleMost = 40.0             // percent that all take together
)

// newAxis returns an axis over busy stretches of time, of which there may be
// none.
func newAxis(busy []stretch) axis {
	all := merged(busy)
	var total time.Duration
	for _, s := range all {
		total += s.To.Sub(s.From)
	}
	all = withIdle(all, max(shortest, total/idleIn))
	idle := 0
	total = 0
	for _, s := range all {
		if s.Idle {
			idle++
		} else {
			total += s.To.Sub(s.From)
		}
	}
	wide := min(idleWide, idleMost/max(1, float64(idle)))
	rest := 100 - wide*float64(idle)
	x := 0.0
	for i := range all {
		s := &all[i]
		s.X, s.Width = x, wide
		if !s.Idle {
			s.Width = rest * float64(s.To.Sub(s.From)) / float64(max(1, total))
		}
		x += s.Width
	}
	return all
}

// merged returns stretches in order, none of which touches another.
func merged(busy []stretch) axis {
	in := slices.Clone(busy)
	slices.SortFunc(in, func(a, b stretch) int { return a.From.Compare(b.From) })
	var out axis
	for _, s := range in {
		s.To = later(s.From, s.To)
		if n := len(out); n > 0 && !s.From.After(out[n-1].To) {
			out[n-1].To = later(out[n-1].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// withIdle puts breaks between what is far apart, and joins what is not.
func withIdle(busy axis, far time.Duration) axis {
	var out axis
	for _, s := range busy {
		n := len(out)
		switch {
		case n == 0:
		case s.From.Sub(out[n-1].To) <= far:
			out[n-1].To = s.To
			continue
		default:
			out = append(out, stretch{From: out[n-1].To, To: s.From, Idle: true})
		}
		out = append(out, s)
	}
	return out
}

// at is where a time stands, from 0 to 100.
func (a axis) at(t time.Time) float64 {
	for _, s := range a {
		if t.After(s.To) {
			continue
		}
		if d := s.To.Sub(s.From); d > 0 {
			return s.X + s.Width*float64(max(0, t.Sub(s.From)))/float64(d)
		}
		return s.X
	}
	if n := len(a); n > 0 {
		return a[n-1].X + a[n-1].Width
	}
	return 0
}

// idle returns the breaks, the longest first.
func (a axis) idle() []stretch {
	var out []stretch
	for _, s := range a {
		if s.Idle {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b stretch) int { return cmp.Compare(b.To.Sub(b.From), a.To.Sub(a.From)) })
	return out
}

// tick is a time that the axis names.
type tick struct {
	X, Text, Anchor, Stamp string
	Middle                 bool // between the ends: a small screen leaves it out
}

// between is how far apart ticks stand at least, in percent.
const between = 16

// ticks names the beginning, the end, and the ends of breaks where there is
// room.
func (a axis) ticks() []tick {
	if len(a) == 0 {
		return nil
	}
	first, last := a[0].From, a[len(a)-1].To
	ticks := []tick{{X: ofWidth(0), Text: clock(first), Anchor: "start", Stamp: stamp(first)}}
	x := 0.0
	for i, s := range a {
		if i == 0 || s.Idle || s.X-x < between || s.X > 100-2*between {
			continue
		}
		x = s.X
		ticks = append(ticks, tick{X: ofWidth(x), Text: clock(s.From), Anchor: "start", Stamp: stamp(s.From), Middle: true})
	}
	return append(ticks, tick{X: ofWidth(100), Text: clock(last), Anchor: "end", Stamp: stamp(last)})
}

func ofWidth(x float64) string { return fmt.Sprintf("%.2f%%", x) }

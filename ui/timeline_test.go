package ui

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func day(hour, minute int) time.Time { return time.Date(2026, 11, 30, hour, minute, 0, 0, time.UTC) }

func TestAnAxisKeepsProportionsAndShortensIdleTimes(t *testing.T) {
	for _, c := range []struct {
		name string
		busy []stretch
		want map[time.Time]float64
		idle int
	}{
		{"nothing", nil, map[time.Time]float64{day(14, 0): 0}, 0},
		{"one moment", []stretch{{From: day(14, 0), To: day(14, 0)}}, map[time.Time]float64{day(13, 0): 0, day(14, 0): 0}, 0},
		{"no gap", []stretch{{From: day(14, 0), To: day(14, 10)}}, map[time.Time]float64{day(14, 0): 0, day(14, 5): 50, day(14, 10): 100, day(15, 0): 100}, 0},
		{"in any order, with overlaps", []stretch{
			{From: day(14, 5), To: day(14, 10)}, {From: day(14, 0), To: day(14, 6)},
		}, map[time.Time]float64{day(14, 5): 50, day(14, 10): 100}, 0},
		{"a short gap stays", []stretch{
			{From: day(14, 0), To: day(14, 9)}, {From: day(14, 10), To: day(14, 20)},
		}, map[time.Time]float64{day(14, 10): 50}, 0},
		{"hours are short", []stretch{
			{From: day(9, 0), To: day(9, 10)}, {From: day(18, 0), To: day(18, 10)},
		}, map[time.Time]float64{day(9, 10): 48.5, day(18, 0): 51.5, day(18, 10): 100, day(13, 35): 50}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := newAxis(c.busy)
			require.Len(t, a.idle(), c.idle)
			for at, want := range c.want {
				require.InDelta(t, want, a.at(at), 0.001, at)
			}
		})
	}
}

func TestManyIdleTimesLeaveRoomForWork(t *testing.T) {
	var busy []stretch
	for h := range 24 {
		busy = append(busy, stretch{From: day(h, 0), To: day(h, 1)})
	}
	a := newAxis(busy)
	require.Len(t, a.idle(), 23)
	work := 0.0
	for _, s := range a {
		if !s.Idle {
			work += s.Width
		}
	}
	require.InDelta(t, 60, work, 0.001)
	require.InDelta(t, 100, a.at(day(23, 1)), 0.001)
	for i, tick := range a.ticks() {
		require.NotEmpty(t, tick.Text, i)
	}
	require.LessOrEqual(t, len(a.ticks()), 8)
}

func TestTimesNeverRunBackOnAnAxis(t *testing.T) {
	a := newAxis([]stretch{{From: day(9, 0), To: day(9, 10)}, {From: day(18, 0), To: day(18, 10)}, {From: day(18, 30), To: day(18, 0)}})
	last := -1.0
	for m := 9 * 60; m < 19*60; m++ {
		x := a.at(day(m/60, m%60))
		require.GreaterOrEqual(t, x, last)
		require.LessOrEqual(t, x, 100.0)
		last = x
	}
}

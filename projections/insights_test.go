package projections_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// What insights say is what the log says, by the hour and by the day.
func TestInsightsAreWhatTheLogSays(t *testing.T) {
	l := storied(t)
	v := viewsOf(t, l)
	began := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		from, until time.Time
		step        time.Duration
		steps       int
	}{
		{began.Add(7 * time.Minute), began.Add(23*time.Hour + time.Minute), time.Hour, 24},
		{began.Add(-10 * 24 * time.Hour), began.Add(24 * time.Hour), 24 * time.Hour, 12},
	} {
		in, err := v.Insights(t.Context(), c.from, c.until)
		require.NoError(t, err)
		require.Equal(t, c.step, in.Step)
		require.Len(t, in.Steps, c.steps)
		require.Equal(t, in.From, in.Steps[0].From)
		require.Equal(t, in.Until, in.Steps[len(in.Steps)-1].From.Add(in.Step))

		calls, proposed, ends, decided := projections.Outcomes{}, 0, map[projections.RequestEnd]int{}, uint64(0)
		for _, s := range in.Steps {
			proposed += s.Proposed
			decided += s.TimeToDecide.Count()
			for status, n := range s.Calls {
				calls[status] += n
			}
			for end, n := range s.Decisions {
				ends[end] += n
			}
		}
		require.Equal(t, 80, proposed)
		require.Equal(t, projections.Outcomes{
			events.StatusOK: 20 + 12 + 6, events.StatusError: 20, events.StatusDeclined: 6, events.StatusExpired: 6, events.StatusStale: 5,
		}, calls)
		require.Equal(t, map[projections.RequestEnd]int{
			projections.EndApproved: 12, projections.EndModified: 6, projections.EndDeclined: 6, projections.EndExpired: 6, projections.EndStale: 5,
		}, ends)
		require.EqualValues(t, 24, decided)
		require.EqualValues(t, 24, in.TimeToDecide.Count())
		require.Equal(t, 5, in.Pending)
		require.False(t, in.OldestPending.IsZero())
		require.Equal(t, projections.DecisionCount{
			End: projections.EndApproved, Decider: projections.DeciderHuman, Cause: events.CauseHuman, Count: 12,
		}, in.Decisions[0])
	}
}

func TestToolStatsTellEachTool(t *testing.T) {
	l := storied(t)
	v := viewsOf(t, l)
	from := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	stats, err := v.ToolStats(t.Context(), from, from.Add(48*time.Hour))
	require.NoError(t, err)
	by := map[string]projections.ToolStat{}
	for _, s := range stats {
		by[s.Tool] = s
	}
	require.Len(t, by, 4, "Grep, which nothing defines, is other")
	write, other := by["Write"], by[projections.OtherTool]
	require.Equal(t, 20, write.Calls)
	require.Equal(t, 20, write.Asked)
	require.Equal(t, pt.Digest("Write"), write.Definition)
	require.Equal(t, 20, other.Calls)
	require.Equal(t, projections.Outcomes{events.StatusError: 20}, other.Outcomes)
	require.Empty(t, other.Definition)
	require.True(t, write.LastCalled.After(write.Changed))
	p50, ok := write.Duration.Quantile(0.5)
	require.True(t, ok)
	require.Greater(t, p50, 20*time.Millisecond)
	require.LessOrEqual(t, p50, 40*time.Millisecond, "they all took 31 ms")
	require.Equal(t, 30, write.Approved+by["Bash"].Approved+write.Declined+by["Bash"].Declined+6)

	later, err := v.ToolStats(t.Context(), from.Add(1000*time.Hour), from.Add(1001*time.Hour))
	require.NoError(t, err)
	require.Len(t, later, 4, "what is known whatever the span")
	for _, s := range later {
		require.Zero(t, s.Calls)
	}
}

// A reviewer who approves at once, without having been shown, many times in a
// row, shows.
func TestReviewersShowHowTheyDecide(t *testing.T) {
	l := pt.NewLog(t)
	ben, ada := l.Person("ben", "Ben", "reviewer"), l.Person("ada", "Ada", "reviewer")
	run := l.Run("s", "carla", "x")
	ask := func(i int, shown *events.Actor, wait time.Duration) pt.Request {
		_, q := l.Protected("s", run, "b", i, "Write", fmt.Sprintf(`{"i":%d}`, i))
		l.Advance(30 * time.Second)
		if shown != nil {
			l.Append(events.Draft{Session: "s", Data: &events.Access{
				Action: "view", Outcome: events.AccessOK, Actor: shown, Resource: q.RequestID, Via: "console",
			}})
		}
		l.Advance(wait)
		return q
	}
	for i := range 5 {
		l.Decide(ask(i, &ben, time.Second), ben, events.VerdictApprove, "")
	}
	l.Decide(ask(5, &ben, time.Minute), ben, events.VerdictDecline, "no")
	l.Decide(ask(6, &ben, time.Minute), ben, events.VerdictApprove, "")
	l.Modify(ask(7, &ada, 10*time.Second), ada, `{"i":"other"}`)
	l.Decide(ask(8, &ben, 0), ada, events.VerdictDecline, "was not shown to her")

	in, err := viewsOf(t, l).Insights(t.Context(), l.Now().Add(-24*time.Hour), l.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, in.Reviewers, 2)
	b, a := in.Reviewers[0], in.Reviewers[1]
	b.TimeToDecide, a.TimeToDecide = projections.Distribution{}, projections.Distribution{}
	require.Equal(t, projections.ReviewerStat{Person: "ben", Decisions: 7, Approvals: 6, Declines: 1, Quick: 5, LongestRun: 5}, b)
	require.Equal(t, projections.ReviewerStat{Person: "ada", Decisions: 2, Approvals: 1, Changes: 1, Declines: 1, Unseen: 1, LongestRun: 1}, a)
	median, ok := in.Reviewers[0].TimeToDecide.Quantile(0.5)
	require.True(t, ok)
	require.Less(t, median, 3*time.Second)
}

func TestSpansThatAreNone(t *testing.T) {
	v := viewsOf(t, storied(t))
	now := time.Now()
	for name, until := range map[string]time.Time{
		"nothing":   now,
		"backwards": now.Add(-time.Hour),
		"too long":  now.Add(projections.MaxSpan + time.Second),
	} {
		_, err := v.Insights(t.Context(), now, until)
		require.ErrorIs(t, err, projections.ErrSpan, name)
		_, err = v.ToolStats(t.Context(), now, until)
		require.ErrorIs(t, err, projections.ErrSpan, name)
	}
}

func TestQuantiles(t *testing.T) {
	d := projections.Distribution{Bounds: []float64{1, 2, 4}, Counts: []uint64{0, 4, 0, 1}}
	for q, want := range map[float64]time.Duration{
		0: time.Second, 0.4: 1500 * time.Millisecond, 0.8: 2 * time.Second, 0.99: 4 * time.Second, 1: 4 * time.Second,
	} {
		got, ok := d.Quantile(q)
		require.True(t, ok)
		require.Equal(t, want, got, "%v", q)
	}
	_, ok := projections.Distribution{Bounds: []float64{1}, Counts: []uint64{0, 0}}.Quantile(0.5)
	require.False(t, ok)
}

// BenchmarkInsights reads ninety days of a busy house: 20 tools, 20 reviewers,
// each of them every day. How many calls there were does not matter to it.
func BenchmarkInsights(b *testing.B) {
	path := filepath.Join(b.TempDir(), "views.db")
	v, err := projections.Open(b.Context(), projections.Options{Path: path, Source: pt.NewLog(b)})
	require.NoError(b, err)
	defer v.Close()
	db, err := sqlite.Open(b.Context(), path, sqlite.Options{})
	require.NoError(b, err)
	defer db.Close()
	until := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	const n = 20
	for family, rows := range map[string]string{
		"by_proposed": "'tool-' || i, '', '', 0", "by_asked": "'tool-' || i, '', '', 0", "by_ended": "'tool-' || i, s, '', 0",
		"by_ran": "'tool-' || i, '', '', k", "by_tool_ends": "'tool-' || i, s, '', 0", "by_ends": "s, i, '', 0", "by_waits": "'', '', '', k",
		"by_reviews": "'person-' || i, s, '', 0", "by_review_times": "'person-' || i, '', '', k", "by_review_streak": "'person-' || i, '', '', 0",
	} {
		_, err := db.Write.ExecContext(b.Context(), `INSERT OR IGNORE INTO tallies
			WITH RECURSIVE day(d) AS (SELECT 0 UNION ALL SELECT d + 1 FROM day WHERE d < 89), it(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM it WHERE i < ?),
				st(s, k) AS (VALUES ('approve', 0), ('decline', 3), ('quick', 5), ('unseen', 7), ('ok', 9))
			SELECT 86400, ?, ? - d * 86400, `+rows+`, 1, 1000 FROM day, it, st`, n-1, family, until.Unix())
		require.NoError(b, err)
	}
	for b.Loop() {
		in, err := v.Insights(b.Context(), until.Add(-89*24*time.Hour), until.Add(24*time.Hour))
		require.NoError(b, err)
		require.Len(b, in.Reviewers, n)
		require.Len(b, in.Steps, 90)
	}
}

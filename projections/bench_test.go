package projections_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// busyLog has n sessions of nine records: a run, a round, two calls, one of
// them decided, and both results.
func busyLog(b testing.TB, n int) *pt.Log {
	l := pt.NewLog(b)
	ben := l.Person("ben", "Ben", "reviewer")
	for i := range n {
		s := fmt.Sprintf("session-%d", i)
		run := l.Run(s, "carla", "do it")
		l.Round(s, run, "b1", 1, 2, "two calls")
		free := l.Propose(s, run, "b1", 0, "Read", `{"path":"a"}`, events.EffectAllow)
		l.Start(free, nil, "")
		l.Result(free, events.StatusOK, events.CausePolicy, "text")
		call, q := l.Protected(s, run, "b1", 1, "Write", `{"path":"a","content":"x"}`)
		d := l.Decide(q, ben, events.VerdictApprove, "")
		l.Start(call, &q, d)
		l.Result(call, events.StatusOK, events.CauseHuman, "done")
	}
	return l
}

// BenchmarkRebuild reports how fast the views are made from the log.
func BenchmarkRebuild(b *testing.B) {
	l := busyLog(b, 1000)
	for b.Loop() {
		v, err := projections.Open(b.Context(), projections.Options{Path: filepath.Join(b.TempDir(), "views.db"), Source: l})
		require.NoError(b, err)
		follow(b, v, l.Len())
		require.NoError(b, v.Close())
	}
	b.ReportMetric(float64(l.Len()*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkHistory reports how long a page of the history takes.
func BenchmarkHistory(b *testing.B) {
	l := busyLog(b, 2000)
	v, err := projections.Open(b.Context(), projections.Options{Path: filepath.Join(b.TempDir(), "views.db"), Source: l})
	require.NoError(b, err)
	defer v.Close()
	follow(b, v, l.Len())
	for b.Loop() {
		page, err := v.History(b.Context(), all(projections.Filter{}), "", 50)
		require.NoError(b, err)
		require.Len(b, page.Items, 50)
	}
}

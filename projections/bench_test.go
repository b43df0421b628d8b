package projections_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/generate"
	"github.com/countersign-dev/countersign/internal/journal"
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

// generated is a journal on the disk that looks like work.
func generated(b *testing.B, count int) *bus.Producer {
	b.Helper()
	j, err := journal.Open(b.Context(), journal.Options{Path: filepath.Join(b.TempDir(), "journal.db")})
	require.NoError(b, err)
	b.Cleanup(func() { _ = j.Close() })
	_, err = generate.Fill(b.Context(), j, generate.Options{Events: count})
	require.NoError(b, err)
	return bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "agentd/bench/reader"})
}

// BenchmarkRebuild reports how fast all views, search included, are made from a
// log on the disk; beside it the limit, which is to read and decode the records
// and to read their texts.
func BenchmarkRebuild(b *testing.B) {
	const count = 100_000
	log := generated(b, count)
	b.Run("views", func(b *testing.B) {
		for b.Loop() {
			v, err := projections.Open(b.Context(), projections.Options{Path: filepath.Join(b.TempDir(), "views.db"), Source: log})
			require.NoError(b, err)
			require.NoError(b, v.Rebuild(b.Context()))
			require.GreaterOrEqual(b, v.Status().Records, uint64(count))
			require.NoError(b, v.Close())
		}
		b.ReportMetric(float64(count*b.N)/b.Elapsed().Seconds(), "events/s")
	})
	b.Run("limit", func(b *testing.B) {
		for b.Loop() {
			require.GreaterOrEqual(b, readAll(b, log), count)
		}
		b.ReportMetric(float64(count*b.N)/b.Elapsed().Seconds(), "events/s")
	})
}

// readAll reads and decodes a log.
func readAll(b *testing.B, log *bus.Producer) (records int) {
	for row := int64(0); ; {
		entries, err := log.Read(b.Context(), row, 2048)
		require.NoError(b, err)
		if len(entries) == 0 {
			return records
		}
		for _, e := range entries {
			require.NoError(b, fold.Decode(e.Record).Err)
		}
		first := row + 1
		row = entries[len(entries)-1].Row
		require.NoError(b, log.Payloads(b.Context(), first, row, func(int64, int, string, []byte) bool { return true }))
		records += len(entries)
	}
}

// BenchmarkHistory reports how long a page of the history takes, the first and
// one far down, and how long searches take.
func BenchmarkHistory(b *testing.B) {
	log := generated(b, 50_000)
	v, err := projections.Open(b.Context(), projections.Options{Path: filepath.Join(b.TempDir(), "views.db"), Source: log})
	require.NoError(b, err)
	defer v.Close()
	require.NoError(b, v.Rebuild(b.Context()))
	for name, f := range map[string]projections.Filter{
		"all": {}, "tool": {Tool: "Bash"}, "states": {States: []projections.CallState{"ok", "declined"}},
		"tool and state": {Tool: "Bash", States: []projections.CallState{"ok"}},
		"common word":    {Query: "error"}, "rare word": {Query: "zzyzx"}, "two words": {Query: "timeout retry"}, "short word": {Query: "rm"},
		"word and tool": {Query: "error", Tool: "Bash"},
	} {
		cursor := ""
		for range 20 { // pages
			page, err := v.History(b.Context(), all(f), cursor, 50)
			require.NoError(b, err)
			if page.Next == "" {
				break
			}
			cursor = page.Next
		}
		for where, from := range map[string]string{"first": "", "later": cursor} {
			b.Run(name+"/"+where, func(b *testing.B) {
				for b.Loop() {
					_, err := v.History(b.Context(), all(f), from, 50)
					require.NoError(b, err)
				}
			})
		}
	}
}

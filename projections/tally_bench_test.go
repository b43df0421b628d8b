package projections

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/sqlite"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// BenchmarkCounting reports what a record costs to count, to hold against the
// invariants and to store, beside all else that is done with it.
func BenchmarkCounting(b *testing.B) {
	l := pt.NewLog(b)
	ben := l.Person("ben", "Ben", "reviewer")
	for i := range 400 {
		s := fmt.Sprintf("session-%d", i)
		run := l.Run(s, "carla", "do it")
		l.Round(s, run, "b1", 1, 1, "a call")
		call, q := l.Protected(s, run, "b1", 0, "Write", `{"path":"a","content":"x"}`)
		d := l.Decide(q, ben, events.VerdictApprove, "")
		l.Start(call, &q, d)
		l.Result(call, events.StatusOK, events.CauseHuman, "done")
	}
	entries, err := l.Read(b.Context(), 0, l.Len())
	require.NoError(b, err)
	sessions := map[string]*fold.Session{}
	records := make([]folded, 0, len(entries))
	for _, e := range entries {
		r := folded{Record: fold.Decode(e.Record), row: e.Row, traces: &traces{}}
		if id := r.Envelope.SessionID; id != "" {
			if sessions[id] == nil {
				sessions[id] = fold.NewSession(id)
			}
			r.session = sessions[id]
			r.outcome = r.session.Apply(r.Record)
		}
		records = append(records, r)
	}
	db, err := openFile(b.Context(), filepath.Join(b.TempDir(), "views.db"))
	require.NoError(b, err)
	defer db.Close()
	known, err := loadBook(b.Context(), db.Read)
	require.NoError(b, err)
	for b.Loop() {
		d := known.begin()
		for _, r := range records {
			require.NoError(b, d.take(b.Context(), r, l))
		}
		require.NoError(b, db.Raw(b.Context(), func(conn *sqlite.Conn) error {
			return inTransaction(conn, func() error { return d.store(&writer{conn}) })
		}))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(records)), "ns/record")
}

package generate

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/journal"
)

// Generating must not be what a measurement waits for.
func BenchmarkFill(b *testing.B) {
	var m Made
	for b.Loop() {
		j, err := journal.Open(b.Context(), journal.Options{Path: filepath.Join(b.TempDir(), "journal.db")})
		require.NoError(b, err)
		m, err = Fill(b.Context(), j, Options{Events: 200_000, Until: until()})
		require.NoError(b, err)
		require.NoError(b, j.Close())
	}
	b.ReportMetric(float64(m.Events*b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(m.Bytes)/float64(m.Events), "B/event")
}

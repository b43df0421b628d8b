package journal

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkOpen measures a start: the lock, the verification of the end, and
// the head, on a journal of as many events as COUNTERSIGN_BENCH_ROWS says
// (100,000 if it says nothing).
func BenchmarkOpen(b *testing.B) {
	rows, err := strconv.Atoi(cmp.Or(os.Getenv("COUNTERSIGN_BENCH_ROWS"), "100000"))
	require.NoError(b, err)
	path := filepath.Join(b.TempDir(), "journal.db")
	j, stop := running(b, Options{Path: path})
	start := time.Now()
	for i := range rows / 1000 {
		appended(b, j, Begins, entries(1000, fmt.Sprintf("session-%d", i%1000))...)
	}
	b.Logf("%d events written in %v", rows, time.Since(start))
	stop()
	for b.Loop() {
		j, err := Open(context.Background(), Options{Path: path})
		require.NoError(b, err)
		require.NoError(b, j.Close())
	}
	reader, err := Open(context.Background(), Options{Path: path, ReadOnly: true})
	require.NoError(b, err)
	start = time.Now()
	verified(b, reader)
	b.ReportMetric(float64(rows)/time.Since(start).Seconds(), "verified/s")
	require.NoError(b, reader.Close())
	info, err := os.Stat(path)
	require.NoError(b, err)
	b.ReportMetric(float64(info.Size())/float64(rows), "B/event")
}

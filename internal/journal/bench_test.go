package journal

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkAppend measures durable appends beside the physical limit: each
// round runs the raw log and then the journal, with as many callers and the
// same minted bytes. The medians of the ratios are reported; absolute figures
// move with the machine's load, ratios much less.
//
//	go test -tags sqlite_fts5 -run '^$' -bench Append -benchtime 1x ./internal/journal/
func BenchmarkAppend(b *testing.B) {
	for _, c := range []load{
		{callers: 1, batch: 1, appends: 2_000},
		{callers: 100, batch: 1, appends: 20_000},
		{callers: 1000, batch: 1, appends: 60_000},
		{callers: 1, batch: 1000, appends: 100},
	} {
		b.Run(fmt.Sprintf("callers=%d/batch=%d", c.callers, c.batch), func(b *testing.B) {
			for b.Loop() {
				compare(b, c)
			}
		})
	}
}

const rounds = 5

// load is what a round does: so many callers append so many batches together.
type load struct{ callers, batch, appends int }

// figures is what a round measured.
type figures struct {
	perSecond, p50, p99, cpu float64 // events; milliseconds; µs of both user and system an event
}

type appendFunc func(caller int, es []Entry) error

func compare(b *testing.B, c load) {
	b.Helper()
	dir := b.TempDir()
	raw := newRawLog(b, filepath.Join(dir, "raw.log"))
	answers := make([]chan error, c.callers)
	for i := range answers {
		answers[i] = make(chan error, 1)
	}
	j, stop := running(b, Options{Path: filepath.Join(dir, "journal.db")})
	var raws, journals []figures
	var ratios []float64
	for range rounds {
		r := measure(b, c, func(caller int, es []Entry) error { return raw.append(answers[caller], es...) })
		s := measure(b, c, func(_ int, es []Entry) error {
			_, err := j.Append(context.Background(), Begins, es...)
			return err
		})
		raws, journals, ratios = append(raws, r), append(journals, s), append(ratios, s.perSecond/r.perSecond)
	}
	stop()
	report(b, c, raws, journals, ratios)
}

func measure(b *testing.B, c load, do appendFunc) figures {
	b.Helper()
	minted := mint(c)
	took := make([]time.Duration, c.appends)
	var wg sync.WaitGroup
	cpu, start := cpuTime(), time.Now()
	for caller := range c.callers {
		wg.Go(func() {
			for i := caller; i < c.appends; i += c.callers {
				began := time.Now()
				if err := do(caller, minted[i]); err != nil {
					b.Error(err)
					return
				}
				took[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	wall, n := time.Since(start), float64(c.appends*c.batch)
	slices.Sort(took)
	return figures{
		perSecond: n / wall.Seconds(),
		p50:       took[len(took)/2].Seconds() * 1e3, p99: took[len(took)*99/100].Seconds() * 1e3,
		cpu: float64((cpuTime() - cpu).Microseconds()) / n,
	}
}

// mint makes the entries of a round, each caller with a session of its own.
func mint(c load) [][]Entry {
	minted := make([][]Entry, c.appends)
	for i := range minted {
		minted[i] = entries(c.batch, fmt.Sprintf("session-%d", i%c.callers))
	}
	return minted
}

func report(b *testing.B, c load, raws, journals []figures, ratios []float64) {
	b.Helper()
	by := func(fs []figures, get func(figures) float64) float64 {
		values := make([]float64, 0, len(fs))
		for _, f := range fs {
			values = append(values, get(f))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	slices.Sort(ratios)
	for name, fs := range map[string][]figures{"raw": raws, "journal": journals} {
		b.Logf("%d callers x %d: %-8s %8.0f events/s  p50 %6.2f ms  p99 %6.2f ms  cpu %5.1f µs/event", c.callers, c.batch, name,
			by(fs, func(f figures) float64 { return f.perSecond }), by(fs, func(f figures) float64 { return f.p50 }),
			by(fs, func(f figures) float64 { return f.p99 }), by(fs, func(f figures) float64 { return f.cpu }))
	}
	b.Logf("%d callers x %d: ratio %.2f (%.2f to %.2f), load average %s", c.callers, c.batch,
		ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1], loadAverage())
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(by(journals, func(f figures) float64 { return f.perSecond }), "events/s")
	b.ReportMetric(0, "ns/op")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

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

package journal

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// exported are the values of a registry's gauges, and how many appends had each
// result.
func exported(t *testing.T, reg *prometheus.Registry) (gauges map[string]float64, appends map[string]uint64) {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	gauges, appends = map[string]float64{}, map[string]uint64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h != nil {
				appends[m.GetLabel()[0].GetValue()] = h.GetSampleCount()
				continue
			}
			gauges[f.GetName()] = m.GetGauge().GetValue()
		}
	}
	return gauges, appends
}

// Every answer of an append is counted once, whichever way it came in.
func TestAppendsAreCounted(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	var free atomic.Uint64
	free.Store(1 << 40)
	j, stop := running(t, Options{
		Path: filepath.Join(t.TempDir(), "journal.db"), Metrics: reg, FreeBytes: 1 << 20, QueueBytes: 8 * entryWeight,
		free: func(string) (uint64, error) { return free.Load(), nil },
	})
	gauges, _ := exported(t, reg)
	require.Equal(t, map[string]float64{
		"countersign_event_log_head_sequence": 0, "countersign_event_log_disk_free_bytes": 1 << 40, "countersign_event_log_disk_floor_bytes": 1 << 20,
	}, gauges, "an empty log has no last record")

	first := entry("s")
	appended(t, j, Begins, first)
	appended(t, j, Begins, first) // the same bytes again
	changed := first
	changed.Envelope = envelope(first.ID, "other")
	_, err := j.Append(t.Context(), Begins, changed)
	require.ErrorIs(t, err, ErrConflict)

	slot, err := j.Reserve(t.Context(), Ends, 2, 2*entryWeight)
	require.NoError(t, err)
	require.NoError(t, slot.Put(entries(2, "s")...))
	_, err = slot.Wait()
	require.NoError(t, err)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = j.Append(gone, Ends, entry("s"))
	require.ErrorIs(t, err, context.Canceled)

	free.Store(0)
	require.Eventually(t, func() bool { _, err = j.Append(t.Context(), Begins, entry("s")); return err != nil }, 5*time.Second, 50*time.Millisecond)
	require.ErrorIs(t, err, ErrDiskFull)
	_, err = j.Reserve(t.Context(), Begins, 1, entryWeight)
	require.ErrorIs(t, err, ErrDiskFull)

	gauges, appends := exported(t, reg)
	require.Equal(t, uint64(2), appends[appendRefused])
	require.Equal(t, uint64(1), appends[appendDuplicate])
	require.Equal(t, uint64(1), appends[appendConflict])
	require.Equal(t, uint64(1), appends[appendAbandoned])
	require.GreaterOrEqual(t, appends[appendOK], uint64(2))
	require.Zero(t, appends[appendError])
	require.InDelta(t, float64(j.Head().Row), gauges["countersign_event_log_head_sequence"], 0)
	require.InDelta(t, float64(time.Now().Unix()), gauges["countersign_event_log_head_timestamp_seconds"], 60)

	stop()
	_, err = j.Append(t.Context(), Ends, entry("s"))
	require.ErrorIs(t, err, ErrStopped)
	_, appends = exported(t, reg)
	require.Equal(t, uint64(1), appends[appendError])
}

// A journal in memory has no disk to run out of.
func TestMemoryHasNoDisk(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	running(t, Options{Memory: true, Metrics: reg})
	gauges, _ := exported(t, reg)
	require.Equal(t, map[string]float64{"countersign_event_log_head_sequence": 0}, gauges)

	_, err := Open(t.Context(), Options{Memory: true, Metrics: reg})
	require.ErrorContains(t, err, "duplicate", "two journals cannot share a registry")
}

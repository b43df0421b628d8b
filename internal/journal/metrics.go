package journal

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/internal/instruments"
)

// What became of an append: label result.
const (
	appendOK        = "ok"
	appendDuplicate = "duplicate" // all of it was there already
	appendConflict  = "conflict"  // an id is taken by other bytes
	appendRefused   = "refused"   // no room in the queue or on the disk
	appendAbandoned = "abandoned" // its caller gave up: it may be stored
	appendError     = "error"
)

// perSecond is how many units of log time a second has.
const perSecond = 1e6

// metrics are the journal's instruments. An append is measured in the goroutine
// of its caller, never in the writer's.
type metrics struct {
	appends map[string]prometheus.Observer // by result; never changes
}

func newMetrics(j *Journal, reg prometheus.Registerer) (*metrics, error) {
	appends := instruments.Histogram("countersign_event_append_duration_seconds",
		"From the call of an append until it was durable or refused, the wait for others included; an append has one event or many.",
		[]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}, "result")
	m := &metrics{appends: map[string]prometheus.Observer{}}
	for _, result := range []string{appendOK, appendDuplicate, appendConflict, appendRefused, appendAbandoned, appendError} {
		m.appends[result] = appends.WithLabelValues(result)
	}
	return m, instruments.RegisterAll(reg, append(j.readings(), appends)...)
}

// readings are what the journal knows anyway.
func (j *Journal) readings() []prometheus.Collector {
	all := []prometheus.Collector{
		instruments.Read("countersign_event_log_head_sequence", "Records in the log of this node.", func() (float64, bool) {
			n, _ := j.end()
			return float64(n), true
		}),
		instruments.Read("countersign_event_log_head_timestamp_seconds", "Log time of the newest record; absent while there is none.", func() (float64, bool) {
			n, at := j.end()
			return float64(at) / perSecond, n > 0
		}),
	}
	if j.o.Memory || j.o.ReadOnly {
		return all
	}
	return append(all,
		instruments.Read("countersign_event_log_disk_free_bytes", "Room that this process has left on the disk of the log.", func() (float64, bool) {
			free, err := j.o.free(j.disk.dir)
			return float64(free), err == nil
		}),
		instruments.Read("countersign_event_log_disk_floor_bytes", "Room below which the log takes no new work.", func() (float64, bool) {
			return float64(j.disk.floor), true
		}))
}

// end returns how many records there are, and the latest log time.
func (j *Journal) end() (records uint64, logTime int64) {
	for _, e := range j.tree.Load().edges {
		records += e.frontier.Size()
		logTime = max(logTime, e.logTime)
	}
	return records, logTime
}

// answered counts an append with its answer, and passes that on.
func (m *metrics) answered(r *request, stored []Stored, err error) ([]Stored, error) {
	m.appends[resultOf(r.ctx, stored, err)].Observe(time.Since(r.began).Seconds())
	return stored, err
}

func resultOf(ctx context.Context, stored []Stored, err error) string {
	switch {
	case err == nil && allDuplicates(stored):
		return appendDuplicate
	case err == nil:
		return appendOK
	case errors.Is(err, ErrConflict):
		return appendConflict
	case errors.Is(err, ErrStopped):
		return appendError
	case errors.Is(err, ErrOverloaded), errors.Is(err, ErrDiskFull):
		return appendRefused
	case ctx.Err() != nil:
		return appendAbandoned
	}
	return appendError
}

func allDuplicates(stored []Stored) bool {
	for i := range stored {
		if !stored[i].Duplicate {
			return false
		}
	}
	return true
}

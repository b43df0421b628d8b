package projections

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// progress exports where the views of a process stand.
type progress struct {
	views                                    *Views
	position, lagEvents, lagSeconds, rebuild *prometheus.Desc
}

// NewProgress returns what exports where the views of this process stand. Every
// process exports that of its own.
func NewProgress(v *Views) prometheus.Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"projection"}, nil)
	}
	return &progress{
		views:     v,
		position:  desc("countersign_projection_position_sequence", "Records that a projection has read."),
		lagEvents: desc("countersign_projection_lag_events", "Records of the log that a projection has not read."),
		lagSeconds: desc("countersign_projection_lag_seconds",
			"Age of the last record that a projection has read while there are more; 0 when it has caught up."),
		rebuild: desc("countersign_projection_rebuild_progress_ratio", "How far a projection that is being built has come; absent where none is."),
	}
}

// Describe implements prometheus.Collector.
func (p *progress) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{p.position, p.lagEvents, p.lagSeconds, p.rebuild} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (p *progress) Collect(ch chan<- prometheus.Metric) {
	s := p.views.Status()
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, auditName)
	}
	gauge(p.position, float64(s.Records))
	gauge(p.lagEvents, max(0, float64(s.Head)-float64(s.Records)))
	gauge(p.lagSeconds, s.Lag(time.Now()).Seconds())
	if s.Rebuilding != nil && s.Rebuilding.Total > 0 {
		gauge(p.rebuild, float64(s.Rebuilding.Done)/float64(s.Rebuilding.Total))
	}
}

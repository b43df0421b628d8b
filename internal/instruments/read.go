package instruments

import "github.com/prometheus/client_golang/prometheus"

// Read returns a gauge that asks for its value when somebody scrapes. What is
// not there now has no sample: an age of nothing would be an age since 1970.
func Read(name, help string, value func() (v float64, known bool)) prometheus.Collector {
	return reading{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, value}
}

// ReadTotal returns a counter of something that is counted elsewhere already.
func ReadTotal(name, help string, value func() float64) prometheus.Collector {
	return reading{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, func() (float64, bool) { return value(), true }}
}

// reading is a metric without memory.
type reading struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func() (float64, bool)
}

// Describe implements prometheus.Collector.
func (r reading) Describe(out chan<- *prometheus.Desc) { out <- r.desc }

// Collect implements prometheus.Collector.
func (r reading) Collect(out chan<- prometheus.Metric) {
	if v, known := r.value(); known {
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, v)
	}
}

// Package instruments makes Prometheus instruments the way this house wants
// them, and holds the families that more than one package counts in.
//
//	streams, err := instruments.NewStreams(reg, instruments.StreamConsole) // nil reg: counted, not exported
//	streams.Clients.WithLabelValues(instruments.StreamConsole).Inc()
//
// The house rules (docs/metrics.md): a registry is a value that is given, there
// is no global one; labels are of closed sets or go through Names, so that what
// a model or a browser writes cannot make series without end; a child that an
// alert reads exists at 0 from the start; a histogram has classic buckets, which
// every scraper reads, and native ones.
//
// What packages know already (how many wait, where the log ends) is read when
// somebody scrapes, by Read, and not counted a second time.
package instruments

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Counter returns a counter with labels.
func Counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Gauge returns a gauge with labels.
func Gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

// Histogram returns a histogram with labels: with the classic buckets, and with
// native ones for scrapers that ask for them.
func Histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}, labels)
}

// Register exports a collector and returns the one to use: an equal one that is
// exported already, where two packages count in the same family. A nil registry
// exports nothing.
func Register[C prometheus.Collector](reg prometheus.Registerer, c C) (C, error) {
	if reg == nil {
		return c, nil
	}
	err := reg.Register(c)
	if err == nil {
		return c, nil
	}
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if same, ok := there.ExistingCollector.(C); ok {
			return same, nil
		}
	}
	return c, fmt.Errorf("export a metric: %w", err)
}

// RegisterAll exports collectors that nobody else has.
func RegisterAll(reg prometheus.Registerer, all ...prometheus.Collector) error {
	if reg == nil {
		return nil
	}
	var errs []error
	for _, c := range all {
		errs = append(errs, reg.Register(c))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("export metrics: %w", err)
	}
	return nil
}

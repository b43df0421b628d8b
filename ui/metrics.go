package ui

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/internal/instruments"
)

// The labels of exports.
const (
	formatCSV      = "csv"
	formatNDJSON   = "ndjson"
	exportComplete = "complete"
	exportBroken   = "broken" // the reader went away, or reading failed
)

// metrics are the console's instruments: what happened in this process since it
// started. Label values are constants, of package instruments where others
// count in the same family, so that no label is made of what a browser sent:
//
//	c.metrics.clients.WithLabelValues(instruments.StreamConsole).Inc()
type metrics struct {
	clients     *prometheus.GaugeVec     // stream
	sent        *prometheus.CounterVec   // stream
	disconnects *prometheus.CounterVec   // stream, reason
	resumes     *prometheus.CounterVec   // stream, result
	delivery    *prometheus.HistogramVec // stream; seconds from the commit to the last byte handed to the connection
	submissions *prometheus.CounterVec   // channel, result
	exports     *prometheus.CounterVec   // format, result
}

// newMetrics makes the instruments, and exports them where there is a registry.
func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	streams, err := instruments.NewStreams(reg, instruments.StreamConsole)
	if err != nil {
		return nil, err
	}
	m := &metrics{
		clients: streams.Clients, sent: streams.Sent, disconnects: streams.Disconnects, resumes: streams.Resumes, delivery: streams.Delivery,
	}
	var errs [2]error
	m.submissions, errs[0] = instruments.NewSubmissions(reg, instruments.ChannelWeb)
	m.exports, errs[1] = instruments.Register(reg, instruments.Counter("countersign_exports_total",
		"Exports of the history, by format and how they ended.", "format", "result"))
	for _, format := range []string{formatCSV, formatNDJSON} {
		m.exports.WithLabelValues(format, exportComplete)
		m.exports.WithLabelValues(format, exportBroken)
	}
	return m, errors.Join(errs[:]...)
}

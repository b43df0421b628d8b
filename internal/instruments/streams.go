package instruments

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// The kinds of streams: label stream.
const (
	StreamConsole = "console" // of the console's pages
	StreamChat    = "chat"    // of programs that follow a conversation
)

// Why a stream ended: label reason.
const (
	LeftGone     = "client_gone"
	LeftDone     = "done" // all was told
	LeftSlow     = "slow_consumer"
	LeftShutdown = "shutdown"
	LeftError    = "write_error"
	LeftExpired  = "session_expired" // signed out, or no longer of a role that may read
	LeftLimit    = "limit"           // was not let in: too many are open
)

// What a stream that goes on after a place had missed: label result.
const (
	ResumeCurrent  = "current"  // nothing
	ResumeReplayed = "replayed" // what was sent at once
	ResumeReset    = "reset"    // too much or unknown: the reader begins anew
)

// Streams count the live streams of a process.
type Streams struct {
	Clients     *prometheus.GaugeVec     // stream
	Sent        *prometheus.CounterVec   // stream
	Disconnects *prometheus.CounterVec   // stream, reason
	Resumes     *prometheus.CounterVec   // stream, result
	Delivery    *prometheus.HistogramVec // stream; seconds
}

// NewStreams returns the counters of a package's streams, which it shares with
// others that export to the same registry. The children of its kind exist.
func NewStreams(reg prometheus.Registerer, stream string) (*Streams, error) {
	var s Streams
	var errs [5]error
	s.Clients, errs[0] = Register(reg, Gauge("countersign_sse_clients", "Live streams that are open now.", "stream"))
	s.Sent, errs[1] = Register(reg, Counter("countersign_sse_messages_sent_total", "Messages sent on live streams, heartbeats not among them.", "stream"))
	s.Disconnects, errs[2] = Register(reg, Counter("countersign_sse_disconnects_total", "Live streams that ended or were not let in, by why.", "stream", "reason"))
	s.Resumes, errs[3] = Register(reg, Counter("countersign_sse_resumes_total", "Live streams that went on after a place, by what had been missed.", "stream", "result"))
	s.Delivery, errs[4] = Register(reg, Histogram("countersign_sse_delivery_latency_seconds", "From the commit of an event until its message was handed to the connection.",
		[]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}, "stream"))
	s.begin(stream)
	return &s, errors.Join(errs[:]...)
}

// begin makes the children of a kind, at 0.
func (s *Streams) begin(stream string) {
	s.Clients.WithLabelValues(stream)
	s.Sent.WithLabelValues(stream)
	if stream == StreamConsole { // only there a message stands for a commit
		s.Delivery.WithLabelValues(stream)
	}
	for _, reason := range []string{LeftGone, LeftDone, LeftSlow, LeftShutdown, LeftError, LeftExpired, LeftLimit} {
		s.Disconnects.WithLabelValues(stream, reason)
	}
	for _, result := range []string{ResumeCurrent, ResumeReplayed, ResumeReset} {
		s.Resumes.WithLabelValues(stream, result)
	}
}

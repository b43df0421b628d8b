package api

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/instruments"
)

// metrics are the API's own instruments.
type metrics struct {
	streams     *instruments.Streams
	submissions *prometheus.CounterVec // channel, result
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	streams, err := instruments.NewStreams(reg, instruments.StreamChat)
	if err != nil {
		return nil, err
	}
	submissions, err := instruments.NewSubmissions(reg, instruments.ChannelAPI)
	return &metrics{streams, submissions}, err
}

// submitted counts a posted decision. The classes of the gate are the results
// of the counter; all else that is no acceptance was the log's fault.
func (m *metrics) submitted(a gate.Answer, err error) {
	result := cmp.Or(string(a.Class), instruments.SubmitInvalid)
	switch {
	case err != nil:
		result = instruments.SubmitFailed
	case a.Accepted:
		result = instruments.SubmitAccepted
	}
	m.submissions.WithLabelValues(instruments.ChannelAPI, result).Inc()
}

func (m *metrics) invalid() {
	m.submissions.WithLabelValues(instruments.ChannelAPI, instruments.SubmitInvalid).Inc()
}

// resumed counts a stream that goes on from a place.
func (m *metrics) resumed(r *agent.Reader) {
	result := instruments.ResumeCurrent
	switch missed, reset := r.Missed(); {
	case reset:
		result = instruments.ResumeReset
	case missed:
		result = instruments.ResumeReplayed
	}
	m.streams.Resumes.WithLabelValues(instruments.StreamChat, result).Inc()
}

// opened counts a stream that is open until left is called.
func (m *metrics) opened() (left func(reason string)) {
	open := m.streams.Clients.WithLabelValues(instruments.StreamChat)
	open.Inc()
	return func(reason string) {
		open.Dec()
		m.left(reason)
	}
}

func (m *metrics) left(reason string) {
	m.streams.Disconnects.WithLabelValues(instruments.StreamChat, reason).Inc()
}

func (m *metrics) sent() { m.streams.Sent.WithLabelValues(instruments.StreamChat).Inc() }

// why says for which reason a stream has ended.
func (a *API) why(ctx context.Context, err error) string {
	switch {
	case a.life.Err() != nil:
		return instruments.LeftShutdown
	case errors.Is(err, agent.ErrFeedEnded):
		return instruments.LeftDone
	case errors.Is(err, os.ErrDeadlineExceeded):
		return instruments.LeftSlow
	case ctx.Err() != nil:
		return instruments.LeftGone
	}
	return instruments.LeftError
}

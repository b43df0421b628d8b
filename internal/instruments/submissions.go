package instruments

import "github.com/prometheus/client_golang/prometheus"

// The ways in for decisions: label channel.
const (
	ChannelWeb = "web" // the console
	ChannelAPI = "api"
)

// What became of a posted decision: label result.
const (
	SubmitAccepted  = "accepted"
	SubmitUnknown   = "unknown"         // there is no such request
	SubmitDecided   = "already_decided" // the request had ended otherwise than by time
	SubmitExpired   = "expired"
	SubmitForbidden = "forbidden"
	SubmitMismatch  = "digest_mismatch" // the request had moved since it was shown
	SubmitInvalid   = "invalid"         // what was posted, or the changed arguments
	SubmitFailed    = "failed"          // log or gate did not take or judge it in time
)

// NewSubmissions returns the counter of posted decisions, which all ways in
// that export to the same registry share. The children of the channel exist.
func NewSubmissions(reg prometheus.Registerer, channel string) (*prometheus.CounterVec, error) {
	c, err := Register(reg, Counter("countersign_approval_submissions_total", "Decisions that were posted, by the way in and what became of them.", "channel", "result"))
	for _, result := range []string{
		SubmitAccepted, SubmitUnknown, SubmitDecided, SubmitExpired, SubmitForbidden, SubmitMismatch, SubmitInvalid, SubmitFailed,
	} {
		c.WithLabelValues(channel, result)
	}
	return c, err
}

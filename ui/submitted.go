package ui

import (
	"errors"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/projections"
)

// What became of posted decisions, counted.

func (c *Console) submission(result string) {
	c.metrics.submissions.WithLabelValues(instruments.ChannelWeb, result).Inc()
}

// submitted counts a decision that ended with an error, and hands that on.
func (c *Console) submitted(err error) error {
	status, _ := outside(err)
	hidden, _ := errors.AsType[unseenError](err)
	switch {
	case status == http.StatusNotFound, hidden.none:
		c.submission(instruments.SubmitUnknown)
	case status == http.StatusForbidden:
		c.submission(instruments.SubmitForbidden)
	case errors.Is(err, errForm), errors.Is(err, errNoChoice), errors.Is(err, errTooMany):
		c.submission(instruments.SubmitInvalid)
	default:
		c.submission(instruments.SubmitFailed)
	}
	return err
}

// whyRefused classes a decision that the gate refused, by where the request
// stands then.
func whyRefused(id auth.Identity, q projections.Request, p posted, now time.Time) string {
	switch {
	case tooLate(q, now):
		return instruments.SubmitExpired
	case q.State != fold.Pending:
		return instruments.SubmitDecided
	case q.Digest != p.digest:
		return instruments.SubmitMismatch
	case q.MayDecide(id.Actor()) != "":
		return instruments.SubmitForbidden
	case len(p.arguments) > 0:
		return instruments.SubmitInvalid
	}
	return instruments.SubmitDecided
}

package bus

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/internal/journal"
)

// The labels direction and result.
const (
	published = "published"
	consumed  = "consumed"

	resultOK      = "ok"
	resultNack    = "nack"    // comes again
	resultRefused = "refused" // no room: nothing was stored
	resultError   = "error"
)

// Metrics count events on their way into the log, and out of it again to
// subscribers. A nil one counts nothing.
type Metrics struct{ messages *prometheus.CounterVec }

// NewMetrics returns instruments for a producer and its buses, and exports them
// where there is a registry.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{instruments.Counter("countersign_bus_messages_total",
		"Events that were published to the log, and those that subscribers consumed.", "topic", "direction", "result")}
	for _, result := range []string{resultOK, resultRefused, resultError} {
		m.add(0, published, result)
	}
	m.add(0, consumed, resultOK)
	m.add(0, consumed, resultNack)
	return m, instruments.RegisterAll(reg, m.messages)
}

// add counts messages. There is one topic: what tests call theirs is no label.
func (m *Metrics) add(messages int, direction, result string) {
	if m != nil {
		m.messages.WithLabelValues(Topic, direction, result).Add(float64(messages))
	}
}

// published counts what an append was answered with.
func (m *Metrics) published(messages int, err error) {
	m.add(messages, published, publishedAs(err))
}

func publishedAs(err error) string {
	switch {
	case err == nil:
		return resultOK
	case errors.Is(err, journal.ErrStopped): // for want of room, it may be
		return resultError
	case errors.Is(err, events.ErrRefused), errors.Is(err, journal.ErrOverloaded), errors.Is(err, journal.ErrDiskFull):
		return resultRefused
	}
	return resultError
}

// consumed counts what a subscriber said of a message.
func (m *Metrics) consumed(acked bool) {
	if acked {
		m.add(1, consumed, resultOK)
		return
	}
	m.add(1, consumed, resultNack)
}

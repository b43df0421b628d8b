package bus_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

func messages(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			if v := m.GetCounter().GetValue(); v > 0 {
				all[strings.Join(labels, " ")] = v
			}
		}
	}
	return all
}

// What goes into the log is counted with its answer, and what a subscriber takes
// with its word.
func TestMessagesAreCounted(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	m, err := bus.NewMetrics(reg)
	require.NoError(t, err)
	j, _ := run(t, journal.Options{Memory: true})
	p := bus.NewProducer(bus.ProducerOptions{Journal: j, Source: source, Metrics: m})
	_, err = p.Append(t.Context(), draft(events.TypeBoot, ""), draft(events.TypeToolResult, "a"))
	require.NoError(t, err)
	large := draft(events.TypeToolResult, "a")
	large.Payloads = []events.Payload{events.NewPayload(make([]byte, events.MaxEventBytes+1))}
	_, err = p.Append(t.Context(), large)
	require.Error(t, err)

	b := bus.NewEmbedded(j, bus.Options{FromStart: true, Metrics: m, FirstRetry: 1})
	inbox, err := b.Subscribe(t.Context(), bus.Topic)
	require.NoError(t, err)
	(<-inbox).Nack()
	(<-inbox).Ack()
	(<-inbox).Ack()
	require.NoError(t, b.Close())
	require.Equal(t, map[string]float64{"published ok events": 2, "published error events": 1, "consumed nack events": 1, "consumed ok events": 2}, messages(t, reg))
}

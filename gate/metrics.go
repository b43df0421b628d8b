package gate

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/internal/instruments"
)

// metrics are the gate's own instruments. What became of calls and requests is
// in the log, and counted from there.
type metrics struct {
	tools    instruments.Names
	inFlight map[string]prometheus.Gauge // by label; never changes
}

func newMetrics(g *Gate, reg prometheus.Registerer) (*metrics, error) {
	running := instruments.Gauge("countersign_tool_calls_in_flight", "Tool calls that run now.", "tool")
	m := &metrics{tools: instruments.NewNames(slices.Collect(maps.Keys(g.tools))...), inFlight: map[string]prometheus.Gauge{}}
	for _, tool := range m.tools.All() {
		m.inFlight[tool] = running.WithLabelValues(tool)
	}
	waiting := instruments.Read("countersign_gate_waiters", "Calls that this process holds until somebody decides.", func() (float64, bool) {
		return float64(g.held()), true
	})
	return m, instruments.RegisterAll(reg, running, waiting)
}

// runs counts a tool that runs, until it has ended.
func (m *metrics) runs(tool string) (ended func()) {
	n := m.inFlight[m.tools.Of(tool)]
	n.Inc()
	return n.Dec
}

// held counts the undecided requests.
func (g *Gate) held() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, open := range g.pending {
		n += open
	}
	return n
}

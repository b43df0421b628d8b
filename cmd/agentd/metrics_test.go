package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/config"
)

// family is a metric as everybody outside knows it.
type family struct{ name, kind, labels, from, help string }

func (f family) line() string { return fmt.Sprintf("%s %s{%s} %s", f.name, f.kind, f.labels, f.help) }

const tableHead = "| name | type | labels | from | what it is |\n| --- | --- | --- | --- | --- |\n"

var described = regexp.MustCompile(`^Desc\{fqName: "([^"]+)", help: "(.*)", unit: .*constLabels: \{.*\}, variableLabels: \{(.*)\}\}$`)

// families are what a server exports, but what Go and the process have: the
// names of those are the client library's.
func (m *measured) families(t *testing.T) (all []family) {
	t.Helper()
	gathered, err := m.metrics.Gather()
	require.NoError(t, err)
	kinds := map[string]string{}
	for _, f := range gathered {
		kinds[f.GetName()] = strings.ToLower(f.GetType().String())
	}
	for _, d := range m.metrics.descs {
		found := described.FindStringSubmatch(d.text)
		require.NotNil(t, found, "a description of another form: %s", d.text)
		f := family{name: found[1], help: found[2], labels: found[3], kind: kinds[found[1]], from: d.from}
		if f.kind == "" { // what does not exist now has no sample
			f.kind = "gauge"
		}
		if !strings.HasPrefix(f.name, "go_") && !strings.HasPrefix(f.name, "process_") {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b family) int { return strings.Compare(a.name, b.name) })
	return all
}

// The metrics are an interface: boards and rules of others are built on them.
// UPDATE_GOLDEN=1 writes the list anew, and the table in docs/metrics.md.
func TestTheMetricsAreTheGoldenOnes(t *testing.T) {
	m := busy(t)
	var list, table strings.Builder
	for _, f := range m.families(t) {
		fmt.Fprintln(&list, f.line())
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s |\n", f.name, f.kind, strings.ReplaceAll(f.labels, ",", ", "), f.from, f.help)
	}
	golden(t, filepath.Join("testdata", "metrics.golden"), "", list.String())
	golden(t, filepath.Join("..", "..", "docs", "metrics.md"), tableHead, table.String())
}

// golden compares what follows a heading in a file, up to an empty line, with
// what should.
func golden(t *testing.T, path, heading, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if os.Getenv("UPDATE_GOLDEN") == "1" && heading == "" {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	require.NoError(t, err)
	before, after, found := strings.Cut(string(b), heading)
	require.True(t, found, "%s has no table", path)
	old, rest, more := strings.Cut(after, "\n\n")
	if more {
		old, rest = old+"\n", "\n"+rest
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(path, []byte(before+heading+want+rest), 0o644))
		return
	}
	require.Equal(t, want, old, "%s: UPDATE_GOLDEN=1 writes it anew; a name that goes away breaks rules and boards of others", path)
}

// busy is a server in which everything has happened once.
func busy(t *testing.T) *measured {
	t.Helper()
	m := newMeasured(t, func(c *config.Config) { c.Chat.HITL.AllowedTools = []string{"Bash"} })
	for index, fails := range []bool{false, true} {
		m.ask(t, "free", index, "Bash", bash)
		m.carry(t, "free", index, fails)
	}
	m.ask(t, "free", 2, "NoSuchTool", "{}")
	m.ask(t, "approved", 0, "Write", write)
	m.approve(t, "approved")
	m.carry(t, "approved", 0, false)
	m.ask(t, "waiting", 0, "Write", write)
	m.seen(t)
	m.get(t, "/readyz")
	return m
}

// Arguments that the tools take.
const (
	bash  = `{"command":"true"}`
	write = `{"path":"x","content":"y"}`
)

func (m *measured) get(t *testing.T, path string) {
	t.Helper()
	resp, err := http.Get(m.base + path)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func TestTheMetricsAreClean(t *testing.T) {
	m := busy(t)
	require.Empty(t, m.linted(t))
	bad := prometheus.GaugeOpts{Name: "countersign_wait_ms_total"}
	m.metrics.MustRegister(prometheus.NewGaugeFunc(bad, func() float64 { return 1 })) //nolint:promlinter // so that the other linter has something to see
	require.Len(t, m.linted(t), 2, "a gauge that is called total, and a unit that is no base unit")
}

func (m *measured) linted(t *testing.T) []promlint.Problem {
	t.Helper()
	gathered, err := m.metrics.Gather()
	require.NoError(t, err)
	problems, err := promlint.NewWithMetricFamilies(gathered).Lint()
	require.NoError(t, err)
	return problems
}

// M41: what fails in one collector does not take the others away, and is told.
func TestABrokenCollectorLeavesTheRest(t *testing.T) {
	m := busy(t)
	require.NoError(t, m.metrics.Register(broken{prometheus.NewDesc("countersign_broken", "It panics.", nil, nil)}))
	text := m.scraped(t)
	require.InDelta(t, 0, sample(t, text, `countersign_gate_invariant_violations_total{invariant="executed_twice"}`), 0)
	require.Positive(t, sample(t, m.scraped(t), `promhttp_metric_handler_errors_total{cause="gathering"}`))
}

type broken struct{ desc *prometheus.Desc }

func (b broken) Describe(out chan<- *prometheus.Desc) { out <- b.desc }

func (b broken) Collect(chan<- prometheus.Metric) { panic("a collector of a test") }

func TestWhatIsCounted(t *testing.T) {
	m := busy(t)
	text := m.scraped(t)
	for name, want := range map[string]float64{
		`countersign_gate_waiters`:                                                                      1,
		`countersign_approvals_pending{policy="default"}`:                                               1,
		`countersign_tool_calls_total{origin="main",outcome="executed",tool="Bash"}`:                    1,
		`countersign_tool_calls_total{origin="main",outcome="error",tool="Bash"}`:                       1,
		`countersign_tool_calls_total{origin="main",outcome="refused",tool="_other"}`:                   1,
		`countersign_tool_calls_in_flight{tool="Bash"}`:                                                 0,
		`countersign_approval_decisions_total{decided_by="human",decision="approved",policy="default"}`: 1,
		`countersign_gate_invariant_violations_total{invariant="executed_without_approval"}`:            0,
		`countersign_sse_clients{stream="console"}`:                                                     0,
		`countersign_sse_clients{stream="chat"}`:                                                        0,
		`countersign_http_requests_total{code="200",handler="/readyz",method="GET"}`:                    1,
		`countersign_event_append_duration_seconds_count{result="refused"}`:                             0,
		`countersign_event_log_head_sequence`:                                                           float64(m.views.Status().Head),
		`countersign_bus_messages_total{direction="published",result="ok",topic="events"}`:              float64(m.views.Status().Head),
		`countersign_projection_position_sequence{projection="audit"}`:                                  float64(m.views.Status().Head),
	} {
		require.InDelta(t, want, sample(t, text, name), 0, "%s", name)
	}
}

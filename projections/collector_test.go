package projections_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// M33, this package's part.
func TestTheMetricsAreLintClean(t *testing.T) {
	v := viewsOf(t, storied(t))
	require.Empty(t, lint(t, registryOf(t, v)))

	bad := prometheus.NewRegistry()
	require.NoError(t, bad.Register(prometheus.NewCounter(prometheus.CounterOpts{Name: "badCounter"}))) //nolint:promlinter // meant
	require.NotEmpty(t, lint(t, bad), "the linter sees")
}

func lint(t *testing.T, reg *prometheus.Registry) []promlint.Problem {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	require.NoError(t, err)
	return problems
}

// M37 and case 100: names that a model makes up are one label, those that are no
// UTF-8 break nothing, and no name of an agent is a label at all.
func TestNamesOfAModelMakeNoSeries(t *testing.T) {
	l := pt.NewLog(t)
	names, err := os.ReadFile(filepath.Join("testdata", "names.bin"))
	require.NoError(t, err)
	var strange []string
	for name := range bytes.Lines(names) {
		clipped := name[:min(len(name)-1, events.MaxNameBytes)]
		strange = append(strange, string(clipped))
		_, err := l.TryAppend(proposal(string(clipped), "main"))
		l.AppendRaw("s", fmt.Appendf(nil, `{"specversion":"1.0","type":"tool_call","data":{"tool":"%s"}}`, name))
		require.True(t, err == nil || !strings.Contains(string(clipped), "tool x"), err)
	}
	for i := range 2000 {
		l.Append(proposal(fmt.Sprintf("made-up-%d", i), fmt.Sprintf("agent-%d", i)))
	}
	v := viewsOf(t, l)
	text := exposition(t, v)
	require.Less(t, len(text), 1<<20)
	require.Less(t, strings.Count(text, "\n"), 2000)
	require.NotContains(t, text, "made-up")
	require.NotContains(t, text, "agent-")
	for _, name := range strange {
		require.NotContains(t, text, fmt.Sprintf("=%q", name))
	}
}

// proposal drafts a call of a tool that gets no result, in a session of its own.
func proposal(tool, agent string) events.Draft {
	p := events.NewPayload([]byte(`{}`))
	return events.Draft{Session: "s-" + agent, Payloads: []events.Payload{p}, Data: &events.ToolCall{
		CallKey: events.CallKey{BatchID: events.NewID()}, CallID: "call", Tool: tool, ToolSource: events.SourceUnknown, Arguments: p.Ref(events.MediaJSON),
		Agent: events.Agent{Name: agent}, Model: "default", Principal: "carla", Enforcement: events.Enforced, Effect: events.EffectDeny,
		Rule: "tool-exists", PolicyDigest: pt.Digest("policy"),
	}}
}

// At most a hundred tools and twenty rules are labels, whatever the log defines.
func TestLabelsAreBounded(t *testing.T) {
	l := pt.NewLog(t)
	for i := range 250 {
		p := events.NewPayload([]byte("x"))
		tool := fmt.Sprintf("tool-%03d", i)
		l.Append(events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
			Kind: events.DefineTool, Name: tool, Digest: pt.Digest(tool), Content: p.Ref(events.MediaJSON),
		}})
		s := "s-" + tool
		run := l.Run(s, "carla", "x")
		c := l.Propose(s, run, "b", 0, tool, `{}`, events.EffectAllow)
		l.Start(c, nil, "")
		l.Result(c, events.StatusOK, events.CausePolicy, "x")
		asks := proposal(tool, tool)
		call := asks.Data.(*events.ToolCall)
		call.Effect, call.Rule = events.EffectAsk, fmt.Sprintf("rule-%d", i)
		m := l.Append(asks)[0]
		l.Ask(pt.Call{ToolCall: *call, Session: asks.Session, Event: m.ID, Digest: m.Digest()}, nil)
	}
	v := viewsOf(t, l)
	values := scrape(t, v)
	tools, rules := 0, 0
	for series := range values {
		if strings.HasPrefix(series, "countersign_tool_calls_total") {
			tools++
		}
		if strings.HasPrefix(series, "countersign_approval_requests_total") && !strings.Contains(series, `"default"`) && !strings.Contains(series, `"required-tools"`) {
			rules++
		}
	}
	require.Equal(t, 101, tools)
	require.Equal(t, 21, rules)
	require.Equal(t, 150, int(values[`countersign_tool_calls_total{origin="subagent",outcome="executed",tool="_other"}`]))
	require.Equal(t, 230, int(values[`countersign_approvals_pending{policy="_other"}`]))
}

// M38, the log's part: waiting for people is in the decision's latency alone,
// running in the tool's duration alone.
func TestWaitingAndRunningAreCountedApart(t *testing.T) {
	l := pt.NewLog(t)
	ben := l.Person("ben", "Ben", "reviewer")
	run := l.Run("s", "carla", "x")
	asked := l.Now()
	call, q := l.Protected("s", run, "b", 0, "Write", `{}`)
	l.Advance(100 * time.Second)
	d := l.Decide(q, ben, events.VerdictApprove, "")
	decided := l.Now()
	l.Start(call, &q, d)
	l.Append(events.Draft{Session: "s", Data: &events.ToolResult{
		CallKey: call.CallKey, Tool: call.Tool, Status: events.StatusOK, Cause: events.CauseHuman, Executor: "test/boot", DurationMS: 7000,
	}})
	values := scrape(t, viewsOf(t, l))
	waited := values[`countersign_approval_decision_latency_seconds_sum{decision="approved",policy="required-tools"}`]
	ran := values[`countersign_tool_execution_duration_seconds_sum{outcome="executed",tool="_other"}`]
	require.InDelta(t, decided.Sub(asked).Seconds(), waited, 0.01)
	require.InDelta(t, 7, ran, 1e-9)
	require.Zero(t, values[`countersign_approval_decision_latency_seconds_bucket{decision="approved",policy="required-tools",le="60"}`])
	require.Equal(t, 1, int(values[`countersign_tool_execution_duration_seconds_bucket{outcome="executed",tool="_other",le="10.24"}`]))
	require.Zero(t, values[`countersign_tool_execution_duration_seconds_bucket{outcome="executed",tool="_other",le="5.12"}`])
}

// M41: a scrape reads memory alone. Another process may hold the file, and what
// fails beside it takes nothing away.
func TestAScrapeNeedsNoFile(t *testing.T) {
	l := storied(t)
	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l)
	follow(t, v, l.Len())
	before := scrape(t, v)

	other, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	defer other.Close()
	tx, err := other.Write.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "DELETE FROM tallies")
	require.NoError(t, err)
	require.Equal(t, before, scrape(t, v))
	require.NoError(t, tx.Rollback())

	reg := registryOf(t, v)
	require.NoError(t, reg.Register(panicking{prometheus.NewDesc("countersign_broken", "Broken.", nil, nil)}))
	families, err := reg.Gather()
	require.ErrorContains(t, err, "it broke")
	require.Greater(t, len(families), 10)
}

type panicking struct{ desc *prometheus.Desc }

func (p panicking) Describe(ch chan<- *prometheus.Desc) { ch <- p.desc }
func (panicking) Collect(chan<- prometheus.Metric)      { panic("it broke") }

// No counter falls while the views are made anew, in a new file or because the
// old one is damaged.
func TestNoCounterFallsOverARebuild(t *testing.T) {
	l := storied(t)
	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l)
	follow(t, v, l.Len())
	ctx, stop := context.WithCancel(t.Context())
	scrapes := make(chan []string, 1)
	handler := promhttp.HandlerFor(registryOf(t, v), promhttp.HandlerOpts{})
	go func() {
		var texts []string
		for ctx.Err() == nil {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			texts = append(texts, w.Body.String())
		}
		scrapes <- texts
	}()
	require.NoError(t, v.Rebuild(t.Context()))
	catchUp(t, v)
	run(t, path, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'calls'; PRAGMA schema_version = 99`)
	for i := range 20 {
		l.Run(fmt.Sprint("late-", i), "carla", "go on")
	}
	follow(t, v, l.Len())
	catchUp(t, v)
	stop()
	texts, last := <-scrapes, map[string]float64{}
	require.NotEmpty(t, texts)
	for _, text := range append(texts, exposition(t, v)) {
		last = neverLess(t, last, parse(t, text))
	}
	require.Equal(t, 60, int(last[`countersign_events_appended_total{type="run_started"}`]))
}

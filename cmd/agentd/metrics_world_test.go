package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/models"
)

// catalogue is a registry that is strict about what it is given, and remembers
// what was described to it.
type catalogue struct {
	*prometheus.Registry

	mu    sync.Mutex
	descs []description // mu
}

// description is one of a family: what the client library writes of it, and
// where its numbers come from.
type description struct{ text, from string }

func newCatalogue() *catalogue { return &catalogue{Registry: prometheus.NewPedanticRegistry()} }

// Register implements prometheus.Registerer.
func (c *catalogue) Register(o prometheus.Collector) error {
	described := make(chan *prometheus.Desc, 64)
	go func() {
		defer close(described)
		o.Describe(described)
	}()
	from := "process"
	if fmt.Sprintf("%T", o) == "*projections.collector" {
		from = "log"
	}
	var descs []description
	for d := range described {
		descs = append(descs, description{d.String(), from})
	}
	err := c.Registry.Register(o)
	if err == nil { // else another part has it
		c.mu.Lock()
		defer c.mu.Unlock()
		c.descs = append(c.descs, descs...)
	}
	return err
}

// measured is an agentd in this process, all of whose metrics are in a
// catalogue.
type measured struct {
	*server

	metrics *catalogue
	base    string
}

// newMeasured serves a scripted model until the end of the test. change may alter
// the configuration.
func newMeasured(t *testing.T, change func(*config.Config)) *measured {
	t.Helper()
	dir := t.TempDir()
	l := &config.Loader{WorkDir: dir}
	fs := flag.NewFlagSet("agentd", flag.ContinueOnError)
	l.Flags(fs)
	require.NoError(t, fs.Parse([]string{"--addr", "127.0.0.1:0"}))
	cfg, err := l.Load()
	require.NoError(t, err)
	cfg.Tools.Isolation = config.IsolationNone // no tool is run, and this is not the program that shuts off
	if change != nil {
		change(&cfg)
	}
	script, err := models.ParseScript("built in", []byte(noModel))
	require.NoError(t, err)
	m := &measured{metrics: newCatalogue()}
	serves := make(chan struct{})
	m.server = &server{
		cfg: cfg, stdout: io.Discard, stderr: io.Discard, models: []agent.Model{models.NewScripted("scripted", script)}, registry: m.metrics,
		begin: func(context.Context) error { close(serves); return nil },
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	select {
	case <-serves:
	case err := <-ended:
		ended <- nil
		require.FailNow(t, "agentd ended", "%v", err)
	}
	m.base = "http://" + m.listener.Addr().String()
	return m
}

// key names the call of a session and of a batch of the same name.
func key(session string, index int) events.CallKey {
	return events.CallKey{BatchID: session, Index: index}
}

// ask proposes a call.
func (m *measured) ask(t *testing.T, session string, index int, tool, arguments string) {
	t.Helper()
	require.NoError(t, m.countersign.Gate.Propose(t.Context(), gate.Proposal{
		Session: session, BatchID: session, Principal: "carla", Model: "scripted", Agent: events.Agent{Name: "main"},
		Calls: []gate.ProposedCall{{Index: index, CallID: "c", Tool: tool, Arguments: []byte(arguments)}},
	}))
}

// carry sees a call through, by a tool that does nothing.
func (m *measured) carry(t *testing.T, session string, index int, fails bool) {
	t.Helper()
	require.NoError(t, m.countersign.Gate.Carry(t.Context(), session, key(session, index), func(context.Context, []byte) gate.Output {
		return gate.Output{Content: []byte("done"), Failed: fails}
	}))
}

// approve approves what a session asks, after a look at it.
func (m *measured) approve(t *testing.T, session string) {
	t.Helper()
	var request string
	require.NoError(t, m.countersign.Gate.View(t.Context(), session, func(s *fold.Session) {
		for id := range s.Requests {
			request = id
		}
	}))
	ben := &events.Actor{Person: "p-ben", Roles: []string{"reviewer"}, Groups: []string{}, Method: "token"}
	_, err := m.countersign.Log.Append(t.Context(), events.Draft{
		Session: session, Data: &events.Access{Action: "view", Outcome: events.AccessOK, Actor: ben, Resource: request, Via: "test"},
	})
	require.NoError(t, err)
	answer, err := m.countersign.Gate.Decide(t.Context(), gate.Ruling{
		RequestID: request, Verdict: events.VerdictApprove, Via: "test", Actor: ben, ActorName: "Ben",
	})
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
}

// seen waits until the views have read the whole log.
func (m *measured) seen(t *testing.T) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		status, changed := m.views.Changed()
		if status.Records == status.Head {
			return
		}
		select {
		case <-changed:
		case <-late:
			require.FailNow(t, "the views do not catch up", "%+v", status)
		}
	}
}

// scraped is what Prometheus gets.
func (m *measured) scraped(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(m.base + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(b)
}

// sample is the value of a sample, by its name with labels.
func sample(t *testing.T, text, name string) float64 {
	t.Helper()
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			v, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err)
			return v
		}
	}
	require.FailNow(t, "there is no such sample", "%s in\n%s", name, text)
	return 0
}

// series counts the samples of a scrape.
func series(text string) (n int) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

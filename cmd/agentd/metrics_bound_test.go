package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/config"
)

// What a scrape may have at most, as docs/metrics.md says.
const (
	mostBytes  = 1 << 20
	mostSeries = 10_000
)

// Every label at its bound and beyond: more tools than a label may have, each
// with every outcome, names made up by models, addresses and methods made up by
// clients. A scrape stays small, and nothing of what they sent is in it.
func TestAScrapeIsBounded(t *testing.T) {
	const tools = 150
	m := newMeasured(t, func(c *config.Config) {
		for i := range tools {
			c.Tools.Custom = append(c.Tools.Custom, config.CustomTool{
				Name: fmt.Sprintf("Tool%03d", i), Description: "d", Schema: []byte(`{"type":"object"}`), Command: []string{"/bin/true"}, Timeout: 1,
			})
		}
		c.Chat.HITL.RequiredSet = true // and none named: what is configured is free
	})
	for i := range tools {
		session, tool := fmt.Sprintf("s%d", i), fmt.Sprintf("Tool%03d", i)
		for index, fails := range []bool{false, true} {
			m.ask(t, session, index, tool, "{}")
			m.carry(t, session, index, fails)
		}
		m.ask(t, session, 2, tool, "no arguments")
	}
	m.askStrange(t, 3000)
	for i := range 500 {
		m.strange(t, fmt.Sprintf("/invented-%d", i), fmt.Sprintf("INVENT%d", i))
	}
	m.seen(t)

	text := m.scraped(t)
	t.Logf("%d bytes, %d series", len(text), series(text))
	require.Less(t, len(text), mostBytes)
	require.Less(t, series(text), mostSeries)
	require.NotContains(t, text, "nvent")
	require.InDelta(t, 3000, sample(t, text, `countersign_tool_calls_total{origin="main",outcome="refused",tool="_other"}`), float64(tools))
	require.InDelta(t, 500, sample(t, text, `countersign_http_requests_total{code="404",handler="_other",method="_other"}`), 0)
}

// askStrange proposes calls of tools that nobody has, under agents and rules
// that nobody has: turns of a hundred.
func (m *measured) askStrange(t *testing.T, calls int) {
	t.Helper()
	for first := 0; first < calls; first += 100 {
		p := gate.Proposal{
			Session: fmt.Sprintf("strange-%d", first), BatchID: "b", Principal: fmt.Sprintf("invented person %d", first), Model: "invented",
			Agent: events.Agent{Name: fmt.Sprintf("invented-agent-%d", first)},
		}
		for i := range 100 {
			p.Calls = append(p.Calls, gate.ProposedCall{Index: i, CallID: fmt.Sprint(i), Tool: fmt.Sprintf("invented tool \"%d\"\n", first+i), Arguments: []byte("{}")})
		}
		require.NoError(t, m.countersign.Gate.Propose(t.Context(), p))
	}
}

func (m *measured) strange(t *testing.T, path, method string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, m.base+path, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

// Tokens are counted for the models of the configuration.
func TestTokensAreCounted(t *testing.T) {
	m := newMeasured(t, nil)
	_, reader, err := m.loop.Start(t.Context(), agent.Query{Principal: "carla", Text: "hello", Actor: &events.Actor{Person: "carla", Roles: []string{}, Groups: []string{}, Method: "token"}})
	require.NoError(t, err)
	for err == nil {
		_, err = reader.Next(t.Context())
	}
	require.ErrorIs(t, err, agent.ErrFeedEnded)
	require.Contains(t, m.scraped(t), `countersign_llm_tokens_total{model="scripted",type="output"}`)
}

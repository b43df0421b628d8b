package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// SIGTERM with open streams, a request that waits and a tool that runs: agentd
// ends soon and loses nothing, the next one finds a clean end, and the request
// can still be decided.
func TestStopsGracefully(t *testing.T) {
	h := newHome(t)
	p := h.start()
	waits := p.as(agentToken).begin(t, plan{{count("Count", "waits")}}.query())
	request := waits.until(t, "approval_request")
	runs := p.as(agentToken).begin(t, plan{{count("Slow", "runs")}}.query())
	p.as(aliceToken).approve(t, runs.until(t, "approval_request").RequestID)
	eventually(t, "the tool runs", func() bool { return h.executed(`{"key":"runs"}`) })

	live, err := p.signIn().http.Get(p.base + "/live")
	require.NoError(t, err)
	defer live.Body.Close()

	code, took := p.stop()
	require.Zero(t, code, p.errs)
	require.Less(t, took, 4*time.Second, "%s", p.errs) // about 0.1 s when nothing else runs
	require.NotContains(t, p.errs.String(), "level=ERROR")
	t.Logf("stopped in %v", took.Round(time.Millisecond))

	l := readLog(t, h.path("data", "journal.db"))
	last, ok := l.last().event.(*events.Shutdown)
	require.True(t, ok, "the last record is %s", l.last().Type)
	require.Equal(t, "asked", last.Reason)
	require.EqualValues(t, len(l.entries)-1, last.Heads[0].Size)
	said := strings.Split(strings.TrimSpace(p.out.String()), "\n")
	require.Regexp(t, `^agentd stopped: the log has \d+ records, head [0-9a-f]{64}$`, said[len(said)-1])

	p = h.start()
	resumed := p.as(agentToken).resume(t, runs.conversation)
	result := resumed.until(t, "tool_result").ToolResults[0]
	require.Equal(t, "error", result.Status, "agentd stopped the tool and knows it")
	require.Contains(t, result.Result, "agentd was stopped while the tool ran")
	require.NotContains(t, result.Result, "cancelled")
	require.Equal(t, "STOP", resumed.rest(t).Reason)
	p.as(aliceToken).approve(t, request.RequestID)
	require.Equal(t, "STOP", p.as(agentToken).resume(t, waits.conversation).rest(t).Reason)
	require.ElementsMatch(t, []string{`{"key":"waits"}`, `{"key":"runs"}`}, h.executions())
	p.stop()

	l = readLog(t, h.path("data", "journal.db"))
	require.Equal(t, []bool{false, true}, cleanBoots(l))
	c := check(l)
	c.ended()
	c.executions(h.executions())
	require.Empty(t, c.problems)
}

package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// agentd is killed while a call waits and holds back the free one beside it.
// Started again, the call still waits, and once it is approved both run, and the
// run goes on to its end.
func TestKilledWhileACallWaits(t *testing.T) {
	h := newHome(t)
	p := h.start()
	query := plan{{count("Tally", "free"), count("Count", "first")}, {count("Count", "second")}}.query()
	s := p.as(agentToken).begin(t, query)
	first := s.until(t, "approval_request")
	require.Empty(t, h.executions())
	p.kill()

	p = h.start()
	again := p.as(agentToken).resume(t, s.conversation)
	require.Equal(t, first.RequestID, again.until(t, "approval_request").RequestID)
	p.as(aliceToken).approve(t, first.RequestID)
	second := again.until(t, "approval_request")
	require.Equal(t, count("Count", "second").Arguments, second.Arguments)
	p.as(aliceToken).approve(t, second.RequestID)
	require.Equal(t, "STOP", again.rest(t).Reason)
	require.ElementsMatch(t, []string{`{"key":"free"}`, `{"key":"first"}`, `{"key":"second"}`}, h.executions())
	require.Equal(t, "counted\n", h.model.told(query, callID(1, 0)))

	p.stop()
	l := readLog(t, h.path("data", "journal.db"))
	require.Equal(t, []bool{false, false}, cleanBoots(l), "the first boot has none before it, the second follows a crash")
	require.Len(t, all[*events.RunFinished](l), 1)
}

// agentd is killed while a tool runs. Nobody knows what the tool did: its call
// becomes ambiguous, it is not run again, the model is told, the run goes on.
func TestKilledWhileAToolRuns(t *testing.T) {
	h := newHome(t)
	p := h.start()
	query := plan{{count("Slow", "slow")}}.query()
	s := p.as(agentToken).begin(t, query)
	p.as(aliceToken).approve(t, s.until(t, "approval_request").RequestID)
	eventually(t, "the tool runs", func() bool { return h.executed(`{"key":"slow"}`) })
	p.kill()

	p = h.start()
	again := p.as(agentToken).resume(t, s.conversation)
	result := again.until(t, "tool_result")
	require.Equal(t, "ambiguous", result.ToolResults[0].Status)
	require.Equal(t, "executor_lost", result.ToolResults[0].Cause)
	require.Equal(t, "STOP", again.rest(t).Reason)
	require.Contains(t, h.model.told(query, callID(0, 0)), "unknown")
	require.Len(t, h.executions(), 1)
	p.stop()
}

// cleanBoots says of each boot whether it found that the one before ended as
// asked.
func cleanBoots(l *log) []bool {
	var clean []bool
	for _, b := range all[*events.Boot](l) {
		clean = append(clean, b.Clean)
	}
	return clean
}

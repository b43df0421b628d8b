package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/fold"
)

func unmarshal(t *testing.T, b []byte, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(b, v))
}

func TestARunGoesOnAfterARestart(t *testing.T) {
	m := plays(calls("Let me write. ", call("c0", "Read", "a"), call("c1", "Write", "b")), say("All done."))
	w := newWorld(t)
	p := w.boot(m, setup{})
	shown := until(t, p.begin("s", "go"), of(agent.EventToolResult))
	p.stop()

	p = w.boot(m, setup{})
	request := shown[len(shown)-2].Event
	require.Equal(t, agent.EventApproval, request.Type)

	inText, afterCalls := shown[0], shown[3]
	require.Equal(t, "Let ", inText.Event.Data)
	fromText, fromCalls := p.open("s", inText.ID), p.open("s", afterCalls.ID)
	p.approve(request.RequestID)
	end := []string{"approval_request c1", "tool_result c0 ok", "tool_result c1 ok", "token All done.", "finish STOP"}
	require.Equal(t, append([]string{"reset", "token Let me write. ", "tool_call c0,c1", "finish TOOL_CALLS"}, end...), told(rest(t, fromText)))
	require.Equal(t, append([]string{"finish TOOL_CALLS"}, end...), told(rest(t, fromCalls)))
	// invariant 3: what had run is not run again, and nothing is asked twice
	require.Len(t, m.requests(), 2)
	requirePairs(t, m.requests()[1])
}

func TestARestartWhileTheModelSpeaks(t *testing.T) {
	m := plays(inTurn(hangs("Hal"), say("Hello.")))
	w := newWorld(t)
	p := w.boot(m, setup{})
	shown := until(t, p.begin("s", "go"), of(agent.EventToken))
	p.stop()
	p = w.boot(m, setup{})
	require.Equal(t, []string{"reset", "token Hello.", "finish STOP"}, told(rest(t, p.open("s", shown[0].ID))))
	p.state("s", func(s *fold.Session) { require.Len(t, s.Runs[0].Rounds, 1) })
}

func TestARestartWhileAToolRuns(t *testing.T) {
	m := plays(calls("", call("c", "Slow", "a")))
	w := newWorld(t)
	p := w.boot(m, setup{})
	shown := until(t, p.begin("s", "go"), of(agent.EventApproval))
	p.approve(shown[len(shown)-1].Event.RequestID)
	p.awaitStart("s")
	p.stop()
	p = w.boot(m, setup{})
	require.Equal(t, []string{"tool_result c error", "token That is all.", "finish STOP"}, told(rest(t, p.open("s", shown[len(shown)-1].ID))))
}

// Resuming within one process has neither gap nor repeat, from any place.
func TestResumingFromAnyPlace(t *testing.T) {
	m := plays(calls("One two three.", call("c", "Read", "a")), say("Four five."))
	p := newWorld(t).boot(m, setup{})
	first := rest(t, p.begin("s", "go"))
	second := rest(t, p.begin("s", "again"))
	all := append(append([]agent.Frame{}, first...), second...)
	for i, f := range all {
		r := p.open("s", f.ID)
		require.Equal(t, f.ID, r.LastID())
		require.Equal(t, i == len(all)-1, r.Empty())
		require.Equal(t, append([]agent.Frame(nil), all[i+1:]...), rest(t, r), "after frame %d", i)
		require.True(t, r.Empty())
	}
	require.Equal(t, second, rest(t, p.open("s", "")))
	for _, unknown := range []string{"?", "5\n\ndata: forged\n\n", "a/b/1.1", "a/b/-1.0", first[0].ID + "0000000000000000000000"} {
		r := p.open("s", unknown)
		require.NotContains(t, r.LastID(), "\n")
		require.Equal(t, "reset", told(rest(t, r))[0], "%q", unknown)
	}
}

// Feeds of old runs leave memory; what a client had of a text cannot be matched
// then, and the whole of it is sent.
func TestOldRunsAreToldFromTheLog(t *testing.T) {
	p := newWorld(t).boot(plays(say("One two three.")), setup{})
	old := rest(t, p.begin("old", "go"))
	for i := range 70 {
		rest(t, p.begin("s"+string(rune('A'+i)), "go"))
	}
	require.Equal(t, []string{"reset", "token One two three.", "finish STOP"}, told(rest(t, p.open("old", old[0].ID))))
	r := p.open("old", old[len(old)-1].ID)
	require.True(t, r.Empty())
}

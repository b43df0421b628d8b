package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// Whatever a stranger posts to a conversation in which a run waits: it does not
// exist for them, nothing is recorded of it, and the run goes on.
func TestAStrangerTouchesNothing(t *testing.T) {
	p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{})
	r := p.begin("s", "go")
	shown := until(t, r, of(agent.EventApproval))
	before := p.position("s")
	for _, supersede := range []bool{false, true} {
		_, _, err := p.Start(within(t), agent.Query{Session: "s", Text: "mine", Principal: "p-mallory", Supersede: supersede})
		require.ErrorIs(t, err, gate.ErrUnknownSession)
		require.NotErrorIs(t, err, agent.ErrBusy)
	}
	_, err := p.Pending(within(t), "s", "p-mallory")
	require.ErrorIs(t, err, gate.ErrUnknownSession)
	_, err = p.Open(within(t), "s", "p-mallory", shown[0].ID)
	require.ErrorIs(t, err, gate.ErrUnknownSession)
	require.ErrorIs(t, p.Cancel(within(t), "s", "p-mallory", nil), gate.ErrUnknownSession)
	require.Equal(t, before, p.position("s"))
	p.approve(shown[len(shown)-1].Event.RequestID)
	require.Equal(t, []string{"tool_result c ok", "token That is all.", "finish STOP"}, told(rest(t, r)))
}

// position is the last record of a session.
func (p *process) position(session string) (at events.Position) {
	p.t.Helper()
	p.state(session, func(s *fold.Session) { at = s.Last })
	return at
}

// A query that finds its own conversation busy leaves no record either.
func TestABusyConversationRecordsNothing(t *testing.T) {
	p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{})
	until(t, p.begin("s", "go"), of(agent.EventApproval))
	before := p.position("s")
	_, _, err := p.Start(within(t), agent.Query{Session: "s", Text: "and this?", Principal: carla})
	require.ErrorIs(t, err, agent.ErrBusy)
	require.Equal(t, before, p.position("s"))
}

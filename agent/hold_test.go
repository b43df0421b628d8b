package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

// A turn with a protected call is carried when all of it is decided, in the
// model's order whatever the order of the decisions; only read-only calls go
// ahead. While it waits the run is parked like any other.
func TestATurnIsCarriedWhenAllOfItIsDecided(t *testing.T) {
	for name, change := range map[string]func(*agent.Options){"in hand": nil, "parked": parks} {
		t.Run(name, func(t *testing.T) {
			m := plays(calls("", call("c0", "Fail", "a"), call("c1", "Write", "a"), call("c2", "Read", "a"), call("c3", "Write", "b"), call("c4", "Write", "c")))
			p := newWorld(t).boot(m, setup{change: change})
			r := p.begin("s", "go")
			shown := until(t, r, of(agent.EventToolResult))
			require.Equal(t, "tool_result c2 ok", told(shown)[len(told(shown))-1], "what is read-only goes ahead")

			p.approve(requestOf(t, shown, "c4"))
			require.True(t, p.decide(requestOf(t, shown, "c3"), events.VerdictDecline, nil).Accepted)
			require.Equal(t, []string{"tool_result c3 declined"}, told(until(t, r, of(agent.EventToolResult))), "what was declined has ended")
			if change != nil {
				p.awaitParked(1)
			}
			p.approve(requestOf(t, shown, "c1"))
			require.Equal(t, []string{
				"tool_result c0 error", "tool_result c1 ok", "tool_result c4 ok", "token That is all.", "finish STOP",
			}, told(rest(t, r)))
		})
	}
}

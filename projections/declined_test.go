package projections_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// Earlier declines of a call's like: those of its session first, then of the
// principal's others; never of others, and of no other end.
func TestDeclinedBefore(t *testing.T) {
	l := pt.NewLog(t)
	ben := l.Person("p-ben", "Ben", "reviewer")
	ben.Groups = []string{"sre"}
	n := 0
	asked := func(session, principal, tool string, change func(*events.ApprovalRequest)) (pt.Call, pt.Request) {
		n++
		p := events.NewPayload(fmt.Appendf(nil, `{"n":%d}`, n))
		e := events.ToolCall{
			CallKey: events.CallKey{BatchID: fmt.Sprint("b", n)}, CallID: "c", Tool: tool, ToolSource: events.SourceBuiltin, ToolDigest: pt.Digest(tool),
			Arguments: p.Ref(events.MediaJSON), Agent: events.Agent{Name: "main"}, Principal: principal, Enforcement: events.Enforced,
			Effect: events.EffectAsk, Rule: "required-tools", PolicyDigest: l.Policy,
		}
		m := l.Append(events.Draft{Session: session, Payloads: []events.Payload{p}, Data: &e})[0]
		c := pt.Call{ToolCall: e, Session: session, Event: m.ID, Digest: m.Digest()}
		return c, l.Ask(c, change)
	}
	declined := func(session, principal, tool string, change func(*events.ApprovalRequest)) {
		c, q := asked(session, principal, tool, change)
		l.Decide(q, ben, events.VerdictDecline, "not this one "+session)
		l.Result(c, events.StatusDeclined, events.CauseHuman, "declined")
		l.Advance(time.Minute)
	}
	declined("s0", "carla", "Write", nil) // will be too long ago
	l.Advance(31 * 24 * time.Hour)
	declined("s1", "carla", "Write", nil)
	declined("s2", "carla", "Write", func(q *events.ApprovalRequest) { q.Approvers = []string{"group:sre"} })
	declined("s3", "carla", "Bash", nil) // another tool
	declined("s4", "dora", "Write", nil) // another principal
	_, q := asked("s5", "carla", "Write", nil)
	l.Decide(q, ben, events.VerdictApprove, "")
	_, q = asked("s6", "carla", "Write", nil)
	l.Advance(10 * time.Minute)
	l.End(q, events.CauseTimeout) // nobody's refusal
	declined("s7", "carla", "Write", nil)
	now, _ := asked("s1", "carla", "Write", nil)
	declined("s1", "carla", "Write", nil) // later
	v := viewsOf(t, l)
	call, err := v.Call(t.Context(), "s1", now.CallKey)
	require.NoError(t, err)

	for name, c := range map[string]struct {
		reader   projections.Reader
		limit    int
		sessions []string // "" where the reader may not see it
	}{
		"who sees all":                   {projections.Everything(), 3, []string{"s1", "s7", "s2"}},
		"as many as are asked for":       {projections.Everything(), 2, []string{"s1", "s7"}},
		"who was not asked in a session": {projections.Reader{Reviewer: true, Person: "p-ben"}, 3, []string{"s1", "s7", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := v.DeclinedBefore(t.Context(), call, c.reader, c.limit)
			require.NoError(t, err)
			require.Equal(t, 3, d.Count, "the count is for everybody")
			require.False(t, d.More)
			var sessions []string
			for _, call := range d.Last {
				sessions = append(sessions, call.Session)
				require.Equal(t, call.Session != "", call.Readable)
				ref, _ := call.Current()
				require.Equal(t, call.Readable, ref != nil)
				require.Equal(t, call.Readable, call.Request.End.Comment != nil)
				require.Equal(t, "p-ben", call.Request.End.Actor.Person)
			}
			require.Equal(t, c.sessions, sessions)
		})
	}
}

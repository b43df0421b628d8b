package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// sortedResults puts the results among frames in the order of their ids.
func sortedResults(told []string) []string {
	var at []int
	var results []string
	for i, s := range told {
		if strings.HasPrefix(s, "tool_result ") {
			at, results = append(at, i), append(results, s)
		}
	}
	slices.Sort(results)
	for i, place := range at {
		told[place] = results[i]
	}
	return told
}

// thinks is a handler that tells that it was asked, and answers when its
// context has ended or the test lets it.
func thinks(said map[string]agent.Approval) (h *handler, asked <-chan context.Context, answer func()) {
	told, go_ := make(chan context.Context, 8), make(chan struct{})
	return &handler{approve: func(ctx context.Context, _ agent.ApprovalBatch) (map[string]agent.Approval, error) {
		told <- ctx
		select {
		case <-go_:
		case <-ctx.Done():
		}
		return said, nil
	}}, told, func() { close(go_) }
}

// requestOf returns the request of a call among frames.
func requestOf(t *testing.T, frames []agent.Frame, call string) string {
	t.Helper()
	i := slices.IndexFunc(frames, func(f agent.Frame) bool { return f.Event.Type == agent.EventApproval && f.Event.ToolCallID == call })
	require.GreaterOrEqual(t, i, 0)
	return frames[i].Event.RequestID
}

// While the handler thinks the requests are out, and people decide.
func TestPeopleDecideWhileTheHandlerThinks(t *testing.T) {
	h, asked, answer := thinks(map[string]agent.Approval{"c0": yes, "c1": yes})
	p := newWorld(t).boot(plays(calls("", call("c0", "Write", "a"), call("c1", "Write", "b"))), setup{change: with(h)})
	r := p.begin("s", "go")
	ctx := <-asked
	pending, err := p.Pending(t.Context(), "s", carla)
	require.NoError(t, err)
	require.Len(t, pending, 2, "recorded before the handler was asked")
	frames := append(until(t, r, of(agent.EventApproval)), until(t, r, of(agent.EventApproval))...)

	a := p.decide(requestOf(t, frames, "c0"), events.VerdictDecline, nil)
	require.True(t, a.Accepted, a.Reason)
	require.NoError(t, ctx.Err(), "another call waits still")
	answer()
	require.Equal(t, []string{"tool_result c0 declined", "tool_result c1 ok", "token That is all.", "finish STOP"}, sortedResults(told(rest(t, r))))
	require.Equal(t, map[string]events.Cause{"c0": events.CauseHuman, "c1": events.CauseHandler}, p.causes("s"))
	late := p.decide(requestOf(t, frames, "c1"), events.VerdictDecline, nil)
	require.False(t, late.Accepted)
	require.Contains(t, late.Reason, "approved by the program's approval handler")
}

// What ends a batch ends the handler's context, and what it says then is not
// recorded.
func TestABatchThatEndsWithoutTheHandler(t *testing.T) {
	tests := map[string]struct {
		timeout time.Duration
		end     func(p *process, request string)
		result  string
		cause   events.Cause
	}{
		"a person":       {0, (*process).approve, "tool_result c ok", events.CauseHuman},
		"a cancellation": {0, func(p *process, _ string) { _ = p.Cancel(p.t.Context(), "s", carla, reviewer(carla)) }, "tool_result c cancelled", events.CauseCancelled},
		"its time":       {150 * time.Millisecond, func(*process, string) {}, "tool_result c expired", events.CauseTimeout},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h, asked, _ := thinks(map[string]agent.Approval{"c": {Verdict: events.VerdictDecline}})
			p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{timeout: test.timeout, change: with(h)})
			r := p.begin("s", "go")
			frames := until(t, r, of(agent.EventApproval))
			ctx := <-asked
			test.end(p, requestOf(t, frames, "c"))
			require.Contains(t, told(rest(t, r)), test.result)
			<-ctx.Done()
			require.Equal(t, map[string]events.Cause{"c": test.cause}, p.causes("s"))
			p.state("s", func(s *fold.Session) {
				for _, q := range s.Requests {
					require.Len(t, q.Decided, 1)
				}
			})
		})
	}
}

// A handler that heeds nothing holds up neither its run nor the end of the
// process.
func TestAHandlerThatNeverReturns(t *testing.T) {
	t.Parallel() // it waits for what does not come
	stuck := make(chan struct{})
	defer close(stuck)
	h := &handler{approve: func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) {
		<-stuck
		return nil, nil
	}}
	p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{timeout: 100 * time.Millisecond, change: with(h)})
	require.Contains(t, told(rest(t, p.begin("s", "go"))), "tool_result c expired")
	p.stop()
}

// What is still pending is asked about again after a restart, and by people
// where no handler is left.
func TestAHandlerAfterARestart(t *testing.T) {
	first, asked, _ := thinks(map[string]agent.Approval{"c0": {Verdict: events.VerdictDecline}, "c1": {Verdict: events.VerdictDecline}})
	w := newWorld(t)
	m := plays(calls("", call("c0", "Write", "a"), call("c1", "Write", "b")))
	p := w.boot(m, setup{change: with(first)})
	r := p.begin("s", "go")
	frames := append(until(t, r, of(agent.EventApproval)), until(t, r, of(agent.EventApproval))...)
	<-asked
	p.stop()

	p = w.boot(m, setup{})
	r = p.open("s", "")
	p.approve(requestOf(t, frames, "c0"))
	r.Close()
	p.stop()

	second := says(map[string]agent.Approval{"c1": {Verdict: events.VerdictModify, Arguments: []byte(`{"path":"safe"}`)}})
	p = w.boot(m, setup{change: with(second)})
	shown := told(rest(t, p.open("s", "")))
	require.Equal(t, []string{"tool_result c0 ok", "tool_result c1 ok", "token That is all.", "finish STOP"}, shown[len(shown)-4:])
	require.Len(t, second.batches(), 1)
	require.Len(t, second.batches()[0].Calls, 1, "c0 is decided")
	require.Equal(t, map[string]events.Cause{"c0": events.CauseHuman, "c1": events.CauseHandler}, p.causes("s"))
}

// A handler's change that does not come back in time is not made twice, and the
// handler is not asked about it.
func TestAHandlerOverASlowLog(t *testing.T) {
	h := says(map[string]agent.Approval{"c": {Verdict: events.VerdictModify, Arguments: []byte(`{"path":"safe"}`)}})
	p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{judged: 20 * time.Millisecond, change: with(h)})
	p.log.inject(nil, func(ctx context.Context) error {
		select {
		case <-time.After(60 * time.Millisecond):
		case <-ctx.Done():
		}
		return nil
	})
	_, _, err := p.Start(within(t), agent.Query{Session: "s", Text: "go", Principal: carla})
	if err != nil { // the run began, and is driven all the same
		require.ErrorIs(t, err, gate.ErrNotBack)
	}
	require.NoError(t, p.gate.Watch(within(t), "s", func(s *fold.Session) bool { return len(s.Runs) == 1 && s.Runs[0].Finished != nil }))
	require.Equal(t, map[string]events.Cause{"c": events.CauseHandler}, p.causes("s"))
	require.Len(t, h.batches(), 1)
	p.state("s", func(s *fold.Session) {
		for _, q := range s.Requests {
			require.Len(t, q.Revisions, 1)
			require.Len(t, q.Decided, 2, "the change, and its approval")
		}
	})
}

// Without a handler a decision that claims to be one's does not count.
func TestAHandlersDecisionByHand(t *testing.T) {
	p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{})
	r := p.begin("s", "go")
	request := requestOf(t, until(t, r, of(agent.EventApproval)), "c")
	var forged events.Draft
	p.state("s", func(s *fold.Session) {
		q := s.Requests[request]
		forged = events.Draft{ID: events.NewID(), Session: "s", Data: &events.Decision{
			RequestID: request, RequestDigest: q.Digest, Verdict: events.VerdictApprove, Cause: events.CauseHandler,
			Arguments: q.Arguments.CarriedBy(q.Carrier), Via: "hand",
			Actor: &events.Actor{Person: "handler:ci", Roles: []string{}, Groups: []string{}, Method: "handler"},
		}}
	})
	_, err := p.log.Append(t.Context(), forged)
	require.NoError(t, err)
	a := p.decide(request, events.VerdictDecline, nil) // it stands behind the forged one
	require.True(t, a.Accepted, a.Reason)
	require.Equal(t, []string{"tool_result c declined", "token That is all.", "finish STOP"}, told(rest(t, r)))
	p.state("s", func(s *fold.Session) { require.Len(t, s.Requests[request].Decided, 1) })
}

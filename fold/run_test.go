package fold_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

func TestRuns(t *testing.T) {
	running := []step{{0, runs("r", "carla"), ""}}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"two at once", after(running, step{1, runs("q", "carla"), fold.ReasonBusy})},
		{"one after the other", after(running, step{1, finishes("r"), ""}, step{2, runs("q", "carla"), ""})},
		{"an id twice", after(running, step{1, finishes("r"), ""}, step{2, runs("r", "carla"), fold.ReasonRepeated})},
		{"another principal", after(running, step{1, finishes("r"), ""}, step{2, runs("q", "dora"), fold.ReasonNotOwner})},
		{"another principal at once", after(running, step{1, runs("q", "dora"), fold.ReasonNotOwner})},
		{"another principal, with an id that is taken", after(running, step{1, runs("r", "dora"), fold.ReasonNotOwner})},
		{"a run in another's conversation, begun by a call", []step{{0, call(), ""}, {1, runs("r", "dora"), fold.ReasonNotOwner}}},
		{"finished twice", after(running, step{1, finishes("r"), ""}, step{2, finishes("r"), fold.ReasonUnknownRun})},
		{"another one finished", after(running, step{1, finishes("q"), fold.ReasonUnknownRun})},
		{"cancelled twice", after(running, step{1, cancels("r"), ""}, step{2, cancels("r"), fold.ReasonRepeated})},
		{"another one cancelled", after(running, step{1, cancels("q"), fold.ReasonUnknownRun})},
		{"cancelled after its end", after(running, step{1, finishes("r"), ""}, step{2, cancels("r"), fold.ReasonUnknownRun})},
		{"a cancelled run is unfinished", after(running, step{1, cancels("r"), ""}, step{2, runs("q", "carla"), fold.ReasonBusy})},
	} {
		t.Run(c.name, func(t *testing.T) { write(t, c.steps...) })
	}
}

func TestRounds(t *testing.T) {
	running := []step{{0, runs("r", "carla"), ""}}
	calls, failed := events.RoundCalls, events.RoundFailed
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"in order", after(running, step{1, round("r", "b1", 1, 1, calls), ""}, step{2, round("r", "b2", 2, 1, calls), ""})},
		{"the second first", after(running, step{1, round("r", "b1", 2, 1, calls), fold.ReasonOutOfOrder})},
		{"one twice", after(running, step{1, round("r", "b1", 1, 1, calls), ""}, step{2, round("r", "b2", 1, 1, calls), fold.ReasonOutOfOrder})},
		{"another attempt at what failed", after(running, step{1, round("r", "b1", 1, 1, failed), ""}, step{2, round("r", "b2", 1, 2, calls), ""}, step{3, round("r", "b3", 2, 1, calls), ""})},
		{"a second attempt at what went well", after(running, step{1, round("r", "b1", 1, 1, calls), ""}, step{2, round("r", "b2", 1, 2, calls), fold.ReasonOutOfOrder})},
		{"the next round after one that failed", after(running, step{1, round("r", "b1", 1, 1, failed), ""}, step{2, round("r", "b2", 2, 1, calls), fold.ReasonOutOfOrder})},
		{"an attempt left out", after(running, step{1, round("r", "b1", 1, 1, failed), ""}, step{2, round("r", "b2", 1, 3, calls), fold.ReasonOutOfOrder})},
		{"a batch twice", after(running, step{1, round("r", "b1", 1, 1, calls), ""}, step{2, round("r", "b1", 2, 1, calls), fold.ReasonRepeated})},
		{"of no run", []step{{0, round("r", "b1", 1, 1, calls), fold.ReasonUnknownRun}}},
		{"of a finished run", after(running, step{1, finishes("r"), ""}, step{2, round("r", "b1", 1, 1, calls), fold.ReasonUnknownRun})},
	} {
		t.Run(c.name, func(t *testing.T) { write(t, c.steps...) })
	}
}

func TestWhatARunKnows(t *testing.T) {
	b := write(t, step{0, runs("r", "carla"), ""})
	require.Nil(t, b.Run().Last())
	b.add(round("r", "b0", 1, 1, events.RoundFailed)(b))
	d := round("r", "b", 1, 2, events.RoundCalls)(b)
	d.Data.(*events.RoundFinished).Calls = 2
	b.add(d)
	b.add(call(inRun("r"), func(e *events.ToolCall) { e.Index = 1 })(b))
	require.Equal(t, events.Usage{Prompt: 4, Completion: 2, Total: 6}, b.Run().Usage())
	require.Equal(t, 1, b.Run().Calls)
	turn := b.Turn(b.Run().Last())
	require.Len(t, turn, 2)
	require.Nil(t, turn[0], "the call is not recorded yet")
	require.NotNil(t, turn[1])
	require.True(t, b.Busy())
	b.add(finishes("r")(b))
	require.Nil(t, b.Run())
	require.True(t, b.Busy(), "a call is open")
	require.Equal(t, b.Runs[0].EndedAt, b.Last)
}

// A sum of counts that no number holds is the largest, never a negative one.
func TestUsageAddsUpToTheLargestNumber(t *testing.T) {
	b := write(t, step{0, runs("r", "carla"), ""})
	for n := range 3 {
		d := round("r", ident(n), n+1, 1, events.RoundCalls)(b)
		d.Data.(*events.RoundFinished).Usage = events.Usage{Prompt: math.MaxInt64 - 1, Completion: int64(n), Total: math.MaxInt64}
		require.True(t, b.add(d).Counts)
	}
	require.Equal(t, events.Usage{Prompt: math.MaxInt64, Completion: 3, Total: math.MaxInt64}, b.Run().Usage())
	require.True(t, b.add(events.Draft{Data: &events.RunFinished{RunID: "r", Reason: events.FinishStop, Usage: b.Run().Usage()}}).Counts)
}

func TestCallsAndRequests(t *testing.T) {
	other := func(e *events.ToolCall) { e.Principal = "dora" }
	next := func(e *events.ToolCall) { e.Index = 1 }
	of := func(f func(*events.ApprovalRequest)) draft { return ask(f) }
	called := []step{{0, call(), ""}}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"a key twice", after(called, step{1, call(), fold.ReasonRepeated})},
		{"a key twice, after its end", after(asked, step{1, ends(events.StatusError, events.CauseGateError), ""}, step{2, call(), fold.ReasonRepeated})},
		{"another principal", after(called, step{1, call(next, other), fold.ReasonNotOwner})},
		{"another principal, with a key that is taken", after(called, step{1, call(other), fold.ReasonNotOwner})},
		{"another principal than the run's", []step{{0, runs("r", "carla"), ""}, {1, call(inRun("r"), other), fold.ReasonNotOwner}}},
		{"an unknown run", []step{{0, call(inRun("r")), fold.ReasonUnknownRun}}},
		{"a finished run", []step{{0, runs("r", "carla"), ""}, {1, finishes("r"), ""}, {2, call(inRun("r")), fold.ReasonUnknownRun}}},
		{"a request for no call", []step{{0, func(b *book) events.Draft { b.args = text("{}"); return ask()(b) }, fold.ReasonUnknownCall}}},
		{"a request twice", after(asked, step{1, ask(), fold.ReasonRepeated})},
		{"a second request for a call", after(asked, step{1, of(func(e *events.ApprovalRequest) { e.RequestID = "r2" }), fold.ReasonRepeated})},
		{"a request for a free call", []step{{0, free(), ""}, {1, ask(), fold.ReasonNotPermitted}}},
		{"a request for a call that ended", after(called, step{1, ends(events.StatusError, events.CauseGateError), ""}, step{2, ask(), fold.ReasonEnded})},
		{"a request in another's name", after(called, step{1, of(func(e *events.ApprovalRequest) { e.Requester = "dora" }), fold.ReasonOtherDigest})},
		{"a request for another tool", after(called, step{1, of(func(e *events.ApprovalRequest) { e.Tool = "Read" }), fold.ReasonOtherDigest})},
		{"a request for other arguments", after(called, step{1, of(func(e *events.ApprovalRequest) { e.Arguments = text("{}") }), fold.ReasonOtherDigest})},
	} {
		t.Run(c.name, func(t *testing.T) { write(t, c.steps...) })
	}
}

// What is not about calls, requests or runs moves nothing.
func TestWhatMovesNoFold(t *testing.T) {
	b := write(t, approved...)
	for _, e := range []events.Event{
		&events.Person{Person: "alice", Name: text("Alice")},
		&events.Access{Action: "view", Outcome: events.AccessOK, Via: "test"},
		&events.Alive{BootID: "b1"},
		&events.Recovered{BootID: "b1"},
		&events.SubagentFinished{CallKey: key, Name: "helper", Path: "helper", Reason: events.FinishStop},
	} {
		require.Equal(t, fold.ReasonNotFolded, b.add(events.Draft{Data: e}).Reason, e.Type())
	}
	require.Equal(t, fold.Approved, b.request().State)
}

package agent_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

func TestCancelling(t *testing.T) {
	tests := map[string]struct {
		turn  turn
		until func(agent.Event) bool // what was shown before the cancellation
		go_   func(*process, agent.Event)
		want  []string
	}{
		"while the model speaks":  {hangs("Hal"), of(agent.EventToken), nil, []string{"finish CANCELLED"}},
		"while a request is open": {calls("", call("c", "Write", "a")), of(agent.EventApproval), nil, []string{"tool_result c cancelled", "finish CANCELLED"}},
		"while a tool runs": {
			calls("", call("c", "Slow", "a")), of(agent.EventApproval), func(p *process, e agent.Event) { p.approve(e.RequestID); p.awaitStart("s") },
			[]string{"tool_result c error", "finish CANCELLED"},
		},
		"one runs, one is next": {
			calls("", call("c", "Slow", "a"), call("d", "Write", "a")), of(agent.EventApproval),
			func(p *process, _ agent.Event) { p.approveAll("s"); p.awaitStart("s") },
			[]string{"approval_request d", "tool_result d cancelled", "tool_result c error", "finish CANCELLED"},
		},
		"one waits and holds back the others": {
			calls("", call("c", "Slow", "a"), call("d", "Write", "a"), call("e", "Fail", "a")), of(agent.EventApproval),
			func(p *process, e agent.Event) { p.approve(e.RequestID) },
			[]string{"approval_request d", "tool_result c cancelled", "tool_result d cancelled", "tool_result e cancelled", "finish CANCELLED"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := plays(inTurn(test.turn, say("Now.")))
			p := newWorld(t).boot(m, setup{})
			r := p.begin("s", "go")
			shown := until(t, r, test.until)
			if test.go_ != nil {
				test.go_(p, shown[len(shown)-1].Event)
			}
			require.NoError(t, p.Cancel(t.Context(), "s", carla, reviewer(carla)))
			require.ElementsMatch(t, test.want, told(rest(t, r)))
			require.ErrorIs(t, p.Cancel(t.Context(), "s", carla, reviewer(carla)), agent.ErrNothing)
			require.Len(t, m.requests(), 1)
			// the conversation goes on, with one result for each call
			rest(t, p.begin("s", "and now?"))
			requirePairs(t, m.requests()[1])
		})
	}
}

// approveAll approves all that waits in a session.
func (p *process) approveAll(session string) {
	p.t.Helper()
	pending, err := p.Pending(within(p.t), session, carla)
	require.NoError(p.t, err)
	for _, q := range pending {
		p.approve(q.RequestID)
	}
}

// awaitStart waits until a call of the session has started.
func (p *process) awaitStart(session string) {
	p.t.Helper()
	require.NoError(p.t, p.gate.Watch(within(p.t), session, func(s *fold.Session) bool {
		for _, c := range s.Calls {
			if c.Start != nil {
				return true
			}
		}
		return false
	}))
}

// requirePairs checks that each message with calls is followed by its results.
func requirePairs(t *testing.T, req agent.Request) {
	t.Helper()
	for i, m := range req.Messages {
		if m.Assistant == nil {
			continue
		}
		var msg message
		unmarshal(t, m.Assistant, &msg)
		if len(msg.Calls) == 0 {
			continue
		}
		results := req.Messages[i+1].Results
		require.Len(t, results, len(msg.Calls))
		for j, c := range msg.Calls {
			require.Equal(t, c.ID, results[j].CallID)
			require.NotEmpty(t, results[j].Text)
		}
	}
}

func TestANewQueryWaitsOrSupersedes(t *testing.T) {
	m := plays(calls("", call("c", "Slow", "a"), call("d", "Write", "b")))
	p := newWorld(t).boot(m, setup{})
	r := p.begin("s", "go")
	shown := until(t, r, of(agent.EventApproval))
	p.approve(shown[len(shown)-1].Event.RequestID)

	q := agent.Query{Session: "s", Text: "stop, rather this", Principal: carla, Actor: reviewer(carla)}
	_, _, err := p.Start(within(t), q)
	require.ErrorIs(t, err, agent.ErrBusy)
	pending, err := p.Pending(t.Context(), "s", carla)
	require.NoError(t, err)
	require.Len(t, pending, 1)
	require.Equal(t, "d", pending[0].ToolCallID)

	q.Supersede = true
	_, next, err := p.Start(within(t), q)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"approval_request d", "tool_result c cancelled", "tool_result d cancelled", "finish CANCELLED"}, told(rest(t, r)))
	require.Equal(t, []string{"token That is all.", "finish STOP"}, told(rest(t, next)))
	p.state("s", func(s *fold.Session) {
		for _, q := range s.Requests {
			if q.State == fold.Declined {
				require.Equal(t, events.CauseSuperseded, q.End.Cause)
				require.Nil(t, q.End.Actor) // invariant 6: no person declined it
			}
		}
	})
	requirePairs(t, m.requests()[1])
}

func TestOthersConversationsDoNotExist(t *testing.T) {
	p := newWorld(t).boot(plays(), setup{})
	rest(t, p.begin("s", "go"))
	_, _, err := p.Start(within(t), agent.Query{Session: "s", Text: "x", Principal: "p-mallory"})
	require.ErrorIs(t, err, gate.ErrUnknownSession)
	_, err = p.Open(within(t), "s", "p-mallory", "")
	require.ErrorIs(t, err, gate.ErrUnknownSession)
	require.ErrorIs(t, p.Cancel(within(t), "s", "p-mallory", nil), gate.ErrUnknownSession)
	_, err = p.Open(within(t), "none", carla, "")
	require.ErrorIs(t, err, gate.ErrUnknownSession)
	_, _, err = p.Start(within(t), agent.Query{Text: "x", Model: "none", Principal: carla})
	require.ErrorIs(t, err, agent.ErrNoModel)
}

func TestAFailingModelIsAskedAgain(t *testing.T) {
	gone := agent.TurnError{Code: agent.CodeUnavailable, Message: "no route"}
	broke := agent.TurnError{Code: agent.CodeUnexpectedEOF, Message: "it broke off", Retryable: true}
	final := agent.TurnError{Code: agent.CodeInvalidStream, Message: "not a stream"}
	tests := map[string]struct {
		attempts []turn
		want     []string
	}{
		"twice":       {[]turn{breaks("Hal", broke), breaks("Ha", gone), say("Hello.")}, []string{"token Hal", "reset", "token Ha", "reset", "token Hello.", "finish STOP"}},
		"too often":   {[]turn{breaks("A", gone)}, []string{"token A", "reset", "token A", "reset", "token A", "finish ERROR", "error unavailable"}},
		"of no use":   {[]turn{breaks("A", final), say("B")}, []string{"token A", "finish ERROR", "error invalid_stream"}},
		"after calls": {[]turn{calls("", call("c", "Read", "a"))}, []string{"tool_call c", "finish TOOL_CALLS", "tool_result c ok", "token That is all.", "finish STOP"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newWorld(t).boot(plays(inTurn(test.attempts...)), setup{})
			require.Equal(t, test.want, told(rest(t, p.begin("s", "go"))))
		})
	}
}

// Invariant 10: no audit, no action.
func TestALogThatRefusesWork(t *testing.T) {
	refuses := func(kind events.Type) func([]events.Draft) error {
		return func(drafts []events.Draft) error {
			for _, d := range drafts {
				if d.Data != nil && d.Data.Type() == kind {
					return events.ErrRefused
				}
			}
			return nil
		}
	}
	t.Run("the turn", func(t *testing.T) {
		p := newWorld(t).boot(plays(calls("", call("c", "Read", "a"))), setup{})
		p.log.inject(refuses(events.TypeToolCall), nil)
		require.Equal(t, []string{"finish ERROR", "error log_refused"}, told(rest(t, p.begin("s", "go"))))
	})
	t.Run("the start", func(t *testing.T) {
		p := newWorld(t).boot(plays(calls("", call("c", "Answer", "a"))), setup{})
		p.log.inject(refuses(events.TypeToolStarted), nil)
		require.Equal(t, []string{"tool_call c", "finish TOOL_CALLS", "tool_result c error", "token That is all.", "finish STOP"},
			told(rest(t, p.begin("s", "go"))))
	})
	t.Run("the run", func(t *testing.T) {
		p := newWorld(t).boot(plays(), setup{})
		p.log.inject(refuses(events.TypeRunStarted), nil)
		_, _, err := p.Start(within(t), agent.Query{Session: "s", Text: "go", Principal: carla})
		require.ErrorIs(t, err, events.ErrRefused)
		_, err = p.Open(within(t), "s", carla, "")
		require.ErrorIs(t, err, gate.ErrUnknownSession)
	})
}

// What stands in the log is driven, whatever became of who asked.
func TestAClientThatLeavesWhileItsRunBegins(t *testing.T) {
	p := newWorld(t).boot(plays(say("Hi.")), setup{})
	ctx, leave := context.WithCancel(t.Context())
	p.log.inject(func(drafts []events.Draft) error {
		if drafts[0].Data.Type() == events.TypeRunStarted {
			leave()
		}
		return nil
	}, nil)
	_, r, err := p.Start(ctx, agent.Query{Session: "s", Text: "go", Principal: carla})
	require.NoError(t, err)
	require.Equal(t, []string{"token Hi.", "finish STOP"}, told(rest(t, r)))
}

// A record that does not come back in time is waited for: the model is asked
// once, and its calls are proposed once.
func TestALogThatIsSlowToComeBack(t *testing.T) {
	m := plays(calls("", call("c", "Read", "a")), say("Hi."))
	p := newWorld(t).boot(m, setup{judged: 1})
	var held atomic.Bool
	go_ := make(chan struct{})
	p.log.inject(func(drafts []events.Draft) error {
		if drafts[0].Data.Type() == events.TypeRoundFinished && held.CompareAndSwap(false, true) {
			close(go_)
		}
		return nil
	}, nil)
	_, _, err := p.Start(within(t), agent.Query{Session: "s", Text: "go", Principal: carla})
	if err != nil { // the run began, and is driven all the same
		require.ErrorIs(t, err, gate.ErrNotBack)
	}
	<-go_
	require.NoError(t, p.gate.Watch(within(t), "s", func(s *fold.Session) bool { return len(s.Runs) == 1 && s.Runs[0].Finished != nil }))
	require.Len(t, m.requests(), 2)
	p.state("s", func(s *fold.Session) { require.Len(t, s.Calls, 1) })
}

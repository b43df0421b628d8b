package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// ear is a listener of every kind. It keeps what it was told, in short, and
// then does as it is made.
type ear struct {
	then func(ctx context.Context) error // may be nil

	mu   sync.Mutex
	told []string // mu
}

func (e *ear) hear(ctx context.Context, session, format string, args ...any) error {
	e.mu.Lock()
	e.told = append(e.told, session+": "+fmt.Sprintf(format, args...))
	e.mu.Unlock()
	if e.then == nil {
		return nil
	}
	return e.then(ctx)
}

// of returns what was told of a session.
func (e *ear) of(session string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, s := range e.told {
		if rest, ok := strings.CutPrefix(s, session+": "); ok {
			out = append(out, rest)
		}
	}
	return out
}

func ofCalls(calls []agent.ObservedCall) string {
	var out []string
	for _, c := range calls {
		out = append(out, strings.TrimSpace(c.ID+" "+string(c.Status)))
	}
	return strings.Join(out, ",")
}

func again(o agent.Origin) string {
	if o.Again {
		return " (again)"
	}
	return ""
}

func (e *ear) BeforeBatch(ctx context.Context, b agent.Batch) error {
	return e.hear(ctx, b.Session, "before %s%s", ofCalls(b.Calls), again(b.Origin))
}

func (e *ear) AfterBatch(ctx context.Context, b agent.Batch) error {
	return e.hear(ctx, b.Session, "after %s%s", ofCalls(b.Calls), again(b.Origin))
}

func (e *ear) Started(ctx context.Context, c agent.ObservedCall) error {
	return e.hear(ctx, c.Session, "started %s %s %s%s", c.ID, c.Name, c.Arguments, again(c.Origin))
}

func (e *ear) Succeeded(ctx context.Context, c agent.ObservedCall) error {
	return e.hear(ctx, c.Session, "succeeded %s %s: %s%s", c.ID, c.Cause, c.Result, again(c.Origin))
}

func (e *ear) Failed(ctx context.Context, c agent.ObservedCall) error {
	return e.hear(ctx, c.Session, "failed %s %s %s%s", c.ID, c.Status, c.Cause, again(c.Origin))
}

func (e *ear) RoundStarted(ctx context.Context, r agent.ObservedRound) error {
	return e.hear(ctx, r.Session, "round %d.%d of %s", r.Round, r.Attempt, r.Model)
}

func (e *ear) RoundCompleted(ctx context.Context, r agent.ObservedRound) error {
	return e.hear(ctx, r.Session, "round %d.%d: %s%s, %d calls, %d tokens%s", r.Round, r.Attempt, r.Outcome, r.Code, r.Calls, r.Usage.TotalTokens, again(r.Origin))
}

// listens gives an ear to everything.
func (e *ear) listens(name string, queue int) agent.Listener {
	return agent.Listener{Name: name, ToolCalls: e, Executions: e, Rounds: e, Queue: queue}
}

func heard(listeners ...agent.Listener) func(*agent.Options) {
	return func(o *agent.Options) { o.Listeners = listeners }
}

func TestWhatListenersAreTold(t *testing.T) {
	gone := agent.TurnError{Code: agent.CodeUnavailable, Message: "no route"}
	tests := map[string]struct {
		turns []turn
		want  []string
	}{
		"an answer":         {[]turn{say("Hi.")}, []string{"round 1.1 of fake", "round 1.1: text, 0 calls, 3 tokens"}},
		"a second attempt":  {[]turn{inTurn(breaks("", gone), say("Hi."))}, []string{"round 1.1 of fake", "round 1.1: failedunavailable, 0 calls, 0 tokens", "round 1.2 of fake", "round 1.2: text, 0 calls, 3 tokens"}},
		"a free call":       {[]turn{calls("", call("c", "Read", "a"))}, called("c", `started c Read {"path":"a"}`, `succeeded c policy: ran with {"path":"a"}`, "ok")},
		"a failing call":    {[]turn{calls("", call("c", "Fail", "a"))}, called("c", `started c Fail {"path":"a"}`, "failed c error policy", "error")},
		"a denied call":     {[]turn{calls("", call("c", "Format", "a"))}, called("c", "", "failed c declined policy", "declined")},
		"an unknown tool":   {[]turn{calls("", call("c", "Nope", "a"))}, called("c", "", "failed c error policy", "error")},
		"a protected call":  {[]turn{calls("", call("approve", "Write", "a"))}, called("approve", `started approve Write {"path":"a"}`, `succeeded approve human: ran with {"path":"a"}`, "ok")},
		"a declined call":   {[]turn{calls("", call("decline", "Write", "a"))}, called("decline", "", "failed decline declined human", "declined")},
		"changed arguments": {[]turn{calls("", call("modify", "Write", "a"))}, called("modify", `started modify Write {"path":"safe"}`, "succeeded modify human: A reviewer changed the arguments of this call before it ran, to: {\"path\":\"safe\"}\n\nran with {\"path\":\"safe\"}", "ok")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := &ear{}
			p := newWorld(t).boot(plays(test.turns...), setup{change: heard(e.listens("e", 0))})
			p.play("s")
			p.stop()
			require.Equal(t, test.want, e.of("s"))
			require.Zero(t, p.Unheard())
		})
	}
}

// called is what is told of a run of one call.
func called(id, started, ended, status string) []string {
	told := []string{"round 1.1 of fake", "round 1.1: calls, 1 calls, 3 tokens", "before " + id, started, ended, "after " + id + " " + status, "round 2.1 of fake", "round 2.1: text, 0 calls, 3 tokens"}
	return slices.DeleteFunc(told, func(s string) bool { return s == "" })
}

// play runs a conversation to its end, in which a person decides each request
// as the id of its call says. It returns its frames in short.
func (p *process) play(session string) []string {
	p.t.Helper()
	var frames []agent.Frame
	for r := p.begin(session, "go"); ; {
		f, err := r.Next(within(p.t))
		if err != nil {
			require.ErrorIs(p.t, err, agent.ErrFeedEnded)
			return told(frames)
		}
		frames = append(frames, f)
		if f.Event.Type != agent.EventApproval {
			continue
		}
		verdict := map[string]events.Verdict{"decline": events.VerdictDecline, "modify": events.VerdictModify, "approve": events.VerdictApprove}[f.Event.ToolCallID]
		a := p.decide(f.Event.RequestID, verdict, func(r *gate.Ruling) {
			if verdict == events.VerdictModify {
				r.Arguments = []byte(`{"path":"safe"}`)
			}
		})
		require.True(p.t, a.Accepted, a.Reason)
	}
}

// A whole turn: the batch is told before what follows from its calls, and its
// end after that; calls stand in the model's order.
func TestListenersAreToldOfABatchInOrder(t *testing.T) {
	e := &ear{}
	m := plays(calls("", call("c0", "Format", "a"), call("c1", "Read", "b"), call("approve", "Write", "c"), call("c3", "Read", "d")))
	p := newWorld(t).boot(m, setup{change: heard(e.listens("e", 0))})
	p.play("s")
	p.stop()
	told := e.of("s")
	require.Equal(t, []string{"round 1.1 of fake", "round 1.1: calls, 4 calls, 3 tokens", "before c0,c1,approve,c3", "failed c0 declined policy"}, told[:4])
	require.Equal(t, []string{"after c0 declined,c1 ok,approve ok,c3 ok", "round 2.1 of fake", "round 2.1: text, 0 calls, 3 tokens"}, told[10:])
	for _, id := range []string{"c1", "approve", "c3"} {
		begin := slices.IndexFunc(told, func(s string) bool { return strings.HasPrefix(s, "started "+id+" ") })
		end := slices.IndexFunc(told, func(s string) bool { return strings.HasPrefix(s, "succeeded "+id+" ") })
		require.Less(t, 3, begin)
		require.Less(t, begin, end)
		require.Less(t, end, 10)
	}
}

// A listener of one kind hears that alone, and one of none is refused.
func TestListenersOfOneKind(t *testing.T) {
	rounds, executions := &ear{}, &ear{}
	p := newWorld(t).boot(plays(calls("", call("c", "Read", "a"))), setup{change: heard(
		agent.Listener{Name: "rounds", Rounds: rounds}, agent.Listener{Name: "executions", Executions: executions},
	)})
	p.play("s")
	p.stop()
	require.Len(t, rounds.of("s"), 4)
	require.Len(t, executions.of("s"), 2)
	_, err := agent.NewLoop(agent.Options{Gate: p.gate, Log: p.log, Models: []agent.Model{plays()}, Listeners: []agent.Listener{{Name: "deaf"}}})
	require.ErrorContains(t, err, `"deaf"`)
}

var errEar = errors.New("no ear for this")

// After a restart a listener is told again what counts, marked so, and then
// what is new; what does not count is never told.
func TestListenersAfterARestart(t *testing.T) {
	w := newWorld(t)
	m := plays(calls("", call("c", "Read", "a"), call("approve", "Write", "b")))
	p := w.boot(m, setup{})
	r := p.begin("s", "go")
	frames := until(t, r, of(agent.EventToolResult))
	request := requestOf(t, frames, "approve")
	p.forgeStart("s", request)
	p.stop()

	e := &ear{}
	p = w.boot(m, setup{change: heard(e.listens("e", 0))})
	r = p.open("s", "")
	p.approve(request)
	rest(t, r)
	p.stop()
	require.Equal(t, []string{
		"round 1.1: calls, 2 calls, 3 tokens (again)", "before c,approve (again)", `started c Read {"path":"a"} (again)`,
		`succeeded c policy: ran with {"path":"a"} (again)`,
		`started approve Write {"path":"b"}`, `succeeded approve human: ran with {"path":"b"}`, "after c ok,approve ok",
		"round 2.1 of fake", "round 2.1: text, 0 calls, 3 tokens",
	}, e.of("s"))

	p = w.boot(m, setup{change: heard(e.listens("e", 0))})
	require.NotEmpty(t, rest(t, p.open("s", "")))
	p.stop()
	require.Len(t, e.of("s"), 9, "a run that has ended is told to readers alone")
}

// forgeStart writes a start that nothing permits, and the result of its tool.
func (p *process) forgeStart(session, request string) {
	p.t.Helper()
	var drafts []events.Draft
	p.state(session, func(s *fold.Session) {
		q := s.Requests[request]
		payload := events.NewPayload([]byte("forged"))
		drafts = []events.Draft{{Session: session, Data: &events.ToolStarted{
			CallKey: q.CallKey, Tool: q.Tool, Warrant: events.Warrant{Kind: events.WarrantDecision, Decision: events.NewID()}, RequestDigest: q.Digest,
			Arguments: q.Arguments.CarriedBy(q.Carrier), Executor: "n/x", Enforcement: events.Enforced, Isolation: "none",
		}}, {Session: session, Payloads: []events.Payload{payload}, Data: &events.ToolResult{
			CallKey: q.CallKey, Tool: q.Tool, Status: events.StatusOK, Cause: events.CauseHuman, Executor: "n/x", Result: payload.Ref(events.MediaText),
		}}}
	})
	_, err := p.log.Append(p.t.Context(), drafts...)
	require.NoError(p.t, err)
}

package gate_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

const schema = `{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}`

var alice = &events.Actor{Person: "p-alice", Roles: []string{"reviewer"}, Groups: []string{}, Method: "token"}

// house is a gate over a log in memory.
type house struct {
	*gate.Gate
	log  *memLog
	stop func()
}

func open(t *testing.T, log *memLog, boot string, timeout time.Duration) *house {
	t.Helper()
	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Bash"}, DeniedTools: []string{"Rm"}, RequiredSet: true, Timeout: timeout})
	require.NoError(t, err)
	tool := func(name string) gate.Tool {
		return gate.Tool{Name: name, Source: events.SourceBuiltin, Definition: []byte(name), Schema: []byte(schema)}
	}
	g, err := gate.New(t.Context(), gate.Options{
		Log: log.as("agentd/n/" + boot), Policy: p, Tools: []gate.Tool{tool("Bash"), tool("Read"), tool("Rm")}, Node: "n", Boot: boot,
		Names: func(string) string { return "Alice" },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	<-g.Ready()
	h := &house{Gate: g, log: log}
	h.stop = func() { cancel(); require.NoError(t, <-done); h.stop = func() {} }
	t.Cleanup(func() { h.stop() })
	return h
}

func (h *house) propose(t *testing.T, session string, calls ...string) {
	t.Helper()
	p := gate.Proposal{Session: session, BatchID: "b-" + session, Agent: events.Agent{Name: "main"}, Model: "m", Principal: "p-carla"}
	for i, tool := range calls {
		p.Calls = append(p.Calls, gate.ProposedCall{Index: i, CallID: fmt.Sprint("c", i), Tool: tool, Arguments: []byte(`{"command":"ls"}`)})
	}
	require.NoError(t, h.Propose(t.Context(), p))
}

func key(session string, i int) events.CallKey {
	return events.CallKey{BatchID: "b-" + session, Index: i}
}

func (h *house) request(t *testing.T, session string, i int) *fold.Request {
	t.Helper()
	var q fold.Request
	require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { q = *s.Calls[key(session, i)].Request }))
	return &q
}

func (h *house) result(t *testing.T, session string, i int) (events.ToolResult, string) {
	t.Helper()
	var r fold.Result
	require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { r = *s.Calls[key(session, i)].Result }))
	text, err := h.log.Payload(t.Context(), r.EventID, r.Result)
	require.NoError(t, err)
	return r.ToolResult, string(text)
}

func ok(ran *atomic.Int32) gate.Run {
	return func(_ context.Context, args []byte) gate.Output {
		ran.Add(1)
		return gate.Output{Content: args}
	}
}

func TestAnApprovedCallRunsOnceWithItsArguments(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Bash", "Read", "Rm", "Nope")
	q := h.request(t, "s", 0)
	answer, err := h.Decide(t.Context(), gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictApprove, Actor: alice, ActorName: "Alice", Via: "test"})
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	var ran atomic.Int32
	for i := range 4 {
		require.NoError(t, h.Carry(t.Context(), "s", key("s", i), ok(&ran)))
	}
	require.EqualValues(t, 2, ran.Load())
	for i, want := range []events.Status{events.StatusOK, events.StatusOK, events.StatusDeclined, events.StatusError} {
		r, text := h.result(t, "s", i)
		require.Equal(t, want, r.Status, text)
	}
}

func TestAModificationBecomesARevisionAndRuns(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Bash")
	q := h.request(t, "s", 0)
	rule := gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictModify, Arguments: []byte(`{"command":"pwd"}`), Actor: alice, ActorName: "Alice", Via: "test"}
	bad := rule
	bad.Arguments = []byte(`{"Command":"pwd"}`)
	answer, err := h.Decide(t.Context(), bad)
	require.NoError(t, err)
	require.False(t, answer.Accepted)
	answer, err = h.Decide(t.Context(), rule)
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	var ran atomic.Int32
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
	_, text := h.result(t, "s", 0)
	require.Equal(t, `{"command":"pwd"}`, text)
}

func TestATimeOutIsNeverAPersonsRefusal(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", 30*time.Millisecond)
	h.propose(t, "s", "Bash")
	var ran atomic.Int32
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
	r, text := h.result(t, "s", 0)
	require.Zero(t, ran.Load())
	require.Equal(t, events.StatusExpired, r.Status)
	require.Equal(t, events.CauseTimeout, r.Cause)
	require.Contains(t, text, "Nobody answered")
}

func TestAPendingRequestSurvivesARestartAndALostCallIsAmbiguous(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Bash", "Read")
	started := make(chan struct{})
	ctx, kill := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = h.Carry(ctx, "s", key("s", 1), func(ctx context.Context, _ []byte) gate.Output {
			close(started)
			<-ctx.Done()
			log.mu.Lock()
			log.fail = func([]events.Draft) error { return events.ErrLogStopped } // the process is dead
			log.mu.Unlock()
			return gate.Output{Failed: true}
		})
	}()
	<-started
	kill()
	<-gone
	h.stop()
	log.fail = nil

	h = open(t, log, "b2", time.Minute)
	var ran atomic.Int32
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 1), ok(&ran)))
	require.Zero(t, ran.Load())
	r, _ := h.result(t, "s", 1)
	require.Equal(t, events.StatusAmbiguous, r.Status)
	q := h.request(t, "s", 0)
	answer, err := h.Decide(t.Context(), gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictApprove, Actor: alice, ActorName: "Alice", Via: "test"})
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
	require.EqualValues(t, 1, ran.Load())
}

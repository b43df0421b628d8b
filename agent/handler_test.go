package agent_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// handler is an approval handler made of a function. It keeps what it was
// asked.
type handler struct {
	approve func(ctx context.Context, b agent.ApprovalBatch) (map[string]agent.Approval, error)

	mu    sync.Mutex
	asked []agent.ApprovalBatch // mu
}

func (h *handler) Name() string { return "ci" }

func (h *handler) Approve(ctx context.Context, b agent.ApprovalBatch) (map[string]agent.Approval, error) {
	h.mu.Lock()
	h.asked = append(h.asked, b)
	h.mu.Unlock()
	return h.approve(ctx, b)
}

func (h *handler) batches() []agent.ApprovalBatch {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// says answers with the same approvals each time.
func says(said map[string]agent.Approval) *handler {
	return &handler{approve: func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) {
		return maps.Clone(said), nil
	}}
}

func with(h agent.ApprovalHandler) func(*agent.Options) {
	return func(o *agent.Options) { o.Approvals = h }
}

var yes = agent.Approval{Verdict: events.VerdictApprove}

// causes are the causes of a session's results, by call id.
func (p *process) causes(session string) map[string]events.Cause {
	p.t.Helper()
	out := map[string]events.Cause{}
	p.state(session, func(s *fold.Session) {
		for _, c := range s.Calls {
			out[c.CallID] = c.Result.Cause
		}
	})
	return out
}

// One turn, in which the handler says everything that it can say, and the
// policy something too.
func TestAHandlerDecidesATurn(t *testing.T) {
	h := says(map[string]agent.Approval{
		"c0": yes,
		"c1": {Verdict: events.VerdictModify, Arguments: []byte(`{"path":"safe"}`)},
		"c2": {Verdict: events.VerdictDecline, Comment: "not there"},
		"c3": {Verdict: "maybe"},
		"c4": {Verdict: events.VerdictModify, Arguments: []byte(`{"patch":1}`)},
		"c6": yes, // free already
		"c9": yes, // nobody asked
	})
	m := plays(calls("", call("c0", "Write", "a"), call("c1", "Write", "b"), call("c2", "Write", "c"), call("c3", "Write", "d"),
		call("c4", "Write", "e"), call("c5", "Write", "f"), call("c6", "Read", "g"), call("c7", "Format", "h")))
	p := newWorld(t).boot(m, setup{timeout: time.Minute, change: with(h)})
	r := p.begin("s", "go")
	frames := told(rest(t, r))
	require.Equal(t, "finish STOP", frames[len(frames)-1])

	want := []struct {
		text   string
		failed bool
		cause  events.Cause
	}{
		{`ran with {"path":"a"}`, false, events.CauseHandler},
		{`ran with {"path":"safe"}`, false, events.CauseHandler},
		{"Declined by the program's approval handler. Its comment: not there", true, events.CauseHandler},
		{"this is no person's refusal", true, events.CauseGateError},
		{"this is no person's refusal", true, events.CauseGateError},
		{"this is no person's refusal", true, events.CauseGateError},
		{`ran with {"path":"g"}`, false, events.CausePolicy},
		{"Declined by policy", true, events.CausePolicy},
	}
	results := m.requests()[1].Messages[2].Results
	causes := p.causes("s")
	for i, w := range want {
		require.Contains(t, results[i].Text, w.text)
		require.Equal(t, w.failed, results[i].Failed, results[i].Text)
		require.Equal(t, w.cause, causes[results[i].CallID], results[i].CallID)
	}
	requireAskedOnce(t, h)
}

// requireAskedOnce checks the one batch of TestAHandlerDecidesATurn.
func requireAskedOnce(t *testing.T, h *handler) {
	t.Helper()
	require.Len(t, h.batches(), 1)
	b := h.batches()[0]
	require.Equal(t, "s", b.Session)
	require.Equal(t, carla, b.Principal)
	require.NotEmpty(t, b.Run)
	require.Empty(t, b.Agent)
	require.WithinDuration(t, time.Now().Add(time.Minute), b.Deadline, patience)
	var asked []string
	for _, c := range b.Calls {
		asked = append(asked, c.ID+" "+c.Name+" "+c.Arguments+" "+c.Rule)
	}
	require.Equal(t, []string{
		`c0 Write {"path":"a"} required-tools`, `c1 Write {"path":"b"} required-tools`, `c2 Write {"path":"c"} required-tools`,
		`c3 Write {"path":"d"} required-tools`, `c4 Write {"path":"e"} required-tools`, `c5 Write {"path":"f"} required-tools`,
	}, asked)
}

// Whatever happens to a handler, its calls are declined by nobody but the gate.
func TestAHandlerThatFails(t *testing.T) {
	tests := map[string]func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error){
		"an error": func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) {
			return map[string]agent.Approval{"c0": yes, "c1": yes}, errors.New("no route")
		},
		"an error without words": func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) {
			return nil, errors.New("")
		},
		"a cancellation of its own": func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) {
			return nil, context.Canceled
		},
		"a panic": func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) { panic("oh") },
		"nothing": func(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) { return nil, nil },
		"what it was given, spoilt": func(_ context.Context, b agent.ApprovalBatch) (map[string]agent.Approval, error) {
			clear(b.Calls)
			return nil, nil
		},
	}
	for name, approve := range tests {
		t.Run(name, func(t *testing.T) {
			m := plays(calls("", call("c0", "Write", "a"), call("c1", "Write", "b")))
			p := newWorld(t).boot(m, setup{change: with(&handler{approve: approve})})
			require.Equal(t, []string{
				"tool_call c0,c1", "finish TOOL_CALLS", "approval_request c0", "approval_request c1", "tool_result c0 error", "tool_result c1 error",
				"token That is all.", "finish STOP",
			}, sortedResults(told(rest(t, p.begin("s", "go")))))
			require.Equal(t, map[string]events.Cause{"c0": events.CauseGateError, "c1": events.CauseGateError}, p.causes("s"))
			p.state("s", func(s *fold.Session) {
				for _, q := range s.Requests {
					require.Nil(t, q.End.Actor)
				}
			})
		})
	}
}

// A log that does not take the handler's decisions for a while loses none.
func TestAHandlerOverALogThatRefuses(t *testing.T) {
	p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{change: with(says(map[string]agent.Approval{"c": yes}))})
	refusals := 2
	p.log.inject(func(drafts []events.Draft) error {
		if drafts[len(drafts)-1].Data.Type() == events.TypeDecision && refusals > 0 {
			refusals--
			return events.ErrRefused
		}
		return nil
	}, nil)
	require.Equal(t, "tool_result c ok", told(rest(t, p.begin("s", "go")))[3])
	require.Zero(t, refusals)
}

func TestAHandlerMustHaveAName(t *testing.T) {
	p := newWorld(t).boot(plays(), setup{})
	_, err := agent.NewLoop(agent.Options{Gate: p.gate, Log: p.log, Models: []agent.Model{plays()}, Approvals: nameless{}})
	require.ErrorContains(t, err, "approval handler")
}

type nameless struct{}

func (nameless) Name() string { return "" }

func (nameless) Approve(context.Context, agent.ApprovalBatch) (map[string]agent.Approval, error) {
	return nil, nil
}

package gate_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
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

// changed is what a modification makes of the arguments.
const changed = `{"command":"pwd"}`

var alice, bob = reviewer("p-alice"), reviewer("p-bob")

func reviewer(id string) *events.Actor {
	return &events.Actor{Person: id, Roles: []string{"reviewer"}, Groups: []string{}, Method: "token"}
}

// house is a gate over a log in memory.
type house struct {
	*gate.Gate
	log    *memLog
	source string
	stop   func() // ends Run, once, and waits for it
}

// open runs a gate of node n in which Bash asks, Read is free and changes
// nothing, and Rm is denied.
func open(t testing.TB, log *memLog, boot string, timeout time.Duration) *house {
	t.Helper()
	return openWith(t, log, timeout, func(o *gate.Options) { o.Boot = boot })
}

func openWith(t testing.TB, log *memLog, timeout time.Duration, change func(*gate.Options)) *house {
	t.Helper()
	h, err := build(t.Context(), log, timeout, change)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-done:
		done <- err
		require.NoError(t, err)
	}
	h.stop = func() { cancel(); require.NoError(t, <-done); h.stop = func() {} }
	t.Cleanup(func() { h.stop() })
	return h
}

// build makes a gate that does not run yet.
func build(ctx context.Context, log *memLog, timeout time.Duration, change func(*gate.Options)) (*house, error) {
	p, err := policy.Compile(policy.Config{
		RequiredTools: []string{"Bash"}, DeniedTools: []string{"Rm"}, Timeout: timeout, StartWithin: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	tool := func(name string) gate.Tool {
		return gate.Tool{Name: name, Source: events.SourceBuiltin, Definition: []byte(name), Schema: []byte(schema), ReadOnly: name == "Read"}
	}
	o := gate.Options{
		Policy: p, Tools: []gate.Tool{tool("Bash"), tool("Read"), tool("Rm")}, Node: "n", Boot: "b1",
		KeepLoaded: -1, // what nobody uses is folded anew each time
		Names:      func(person string) string { return strings.ToUpper(person[2:3]) + person[3:] },
	}
	change(&o)
	source := "agentd/" + o.Node + "/" + o.Boot
	if o.Log == nil {
		o.Log = log.as(source)
	}
	g, err := gate.New(ctx, o)
	return &house{Gate: g, log: log, source: source}, err
}

// dead is a producer whose process is gone: the log takes nothing from it.
func dead(source string) func(*memLog) {
	return func(l *memLog) {
		l.fail = func(s string, _ []events.Draft) *fault {
			if s == source {
				return &fault{err: events.ErrLogStopped}
			}
			return nil
		}
	}
}

// refuses makes the log refuse events of a type, for a number of appends.
func refuses(typ events.Type, times int, err error) func(*memLog) {
	return func(l *memLog) {
		l.fail = func(_ string, drafts []events.Draft) *fault {
			for _, d := range drafts {
				if d.Data.Type() == typ && times > 0 {
					times--
					return &fault{err: err}
				}
			}
			return nil
		}
	}
}

func (h *house) propose(t testing.TB, session string, calls ...string) {
	t.Helper()
	require.NoError(t, h.Propose(t.Context(), proposal(session, "", calls...)))
}

func proposal(session, run string, calls ...string) gate.Proposal {
	p := gate.Proposal{Session: session, RunID: run, BatchID: "b-" + session, Agent: events.Agent{Name: "main"}, Model: "m", Principal: "p-carla"}
	for i, tool := range calls {
		p.Calls = append(p.Calls, gate.ProposedCall{Index: i, CallID: fmt.Sprint("c", i), Tool: tool, Arguments: []byte(`{"command":"ls"}`)})
	}
	return p
}

// askByHand records a call and a request under terms that no policy of this
// version has.
func (h *house) askByHand(t testing.TB, session string, change func(*events.ApprovalRequest)) {
	t.Helper()
	policy := events.Digest(h.Policy().Digest())
	p := events.NewPayload([]byte(`{"command":"ls"}`))
	call := events.Draft{ID: events.NewID(), Session: session, Payloads: []events.Payload{p}, Data: &events.ToolCall{
		CallKey: key(session, 0), Tool: "Bash", ToolSource: events.SourceBuiltin, ToolDigest: events.DigestOf([]byte("Bash")), Arguments: p.Ref(events.MediaJSON),
		Agent: events.Agent{Name: "main"}, Principal: "p-carla", Enforcement: events.Enforced, Effect: events.EffectAsk, Rule: "hand", PolicyDigest: policy,
	}}
	ask := &events.ApprovalRequest{
		RequestID: events.NewRequestID(), CallKey: key(session, 0), Tool: "Bash", Arguments: p.Ref(events.MediaJSON).CarriedBy(call.ID), Requester: "p-carla",
		Terms: events.Terms{
			Rule: "hand", PolicyDigest: policy, Quorum: 1, Approvers: []string{}, Timeout: events.Duration(time.Minute), StartWithin: events.Duration(time.Minute),
		},
	}
	change(ask)
	_, err := h.log.as(hand).Append(t.Context(), call, events.Draft{Session: session, Data: ask})
	require.NoError(t, err)
	h.until(t, session, func(s *fold.Session) bool { return s.Requests[ask.RequestID] != nil })
}

func key(session string, i int) events.CallKey {
	return events.CallKey{BatchID: "b-" + session, Index: i}
}

func (h *house) request(t testing.TB, session string, i int) *fold.Request {
	t.Helper()
	var q fold.Request
	require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { q = *s.Calls[key(session, i)].Request }))
	return &q
}

func (h *house) result(t testing.TB, session string, i int) (events.ToolResult, string) {
	t.Helper()
	var r fold.Result
	require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { r = *s.Calls[key(session, i)].Result }))
	text, err := h.log.Payload(t.Context(), r.EventID, r.Result)
	require.NoError(t, err)
	return r.ToolResult, string(text)
}

// until waits until the fold shows what a test wants.
func (h *house) until(t testing.TB, session string, want func(*fold.Session) bool) {
	t.Helper()
	require.NoError(t, h.Watch(t.Context(), session, want))
}

// ruling is a person's word on a request; changes make it another.
func ruling(q *fold.Request, verdict events.Verdict, who *events.Actor, changes ...func(*gate.Ruling)) gate.Ruling {
	r := gate.Ruling{RequestID: q.RequestID, Verdict: verdict, Actor: who, ActorName: who.Person[2:], Via: "test"}
	for _, c := range changes {
		c(&r)
	}
	return r
}

func keyed(key string) func(*gate.Ruling) { return func(r *gate.Ruling) { r.IdempotencyKey = key } }

func becomes(text string) func(*gate.Ruling) {
	return func(r *gate.Ruling) { r.Verdict, r.Arguments = events.VerdictModify, []byte(text) }
}

// accepted posts a ruling that must count.
func (h *house) accepted(t testing.TB, r gate.Ruling) gate.Answer {
	t.Helper()
	answer, err := h.Decide(t.Context(), r)
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	require.NotEmpty(t, answer.EventID)
	return answer
}

// refused posts a ruling that must not count, and returns the reason.
func (h *house) refused(t testing.TB, r gate.Ruling) string {
	t.Helper()
	answer, err := h.Decide(t.Context(), r)
	require.NoError(t, err)
	require.False(t, answer.Accepted)
	return cmp.Or(answer.Reason, "no reason")
}

func ok(ran *atomic.Int32) gate.Run {
	return func(_ context.Context, args []byte) gate.Output {
		ran.Add(1)
		return gate.Output{Content: args}
	}
}

// carry carries a call and returns its result.
func (h *house) carry(t testing.TB, session string, i int, run gate.Run) (events.ToolResult, string) {
	t.Helper()
	require.NoError(t, h.Carry(t.Context(), session, key(session, i), run))
	return h.result(t, session, i)
}

// count returns how many records of a type the log has.
func (l *memLog) count(typ events.Type) (n int) {
	for _, e := range l.all() {
		if env, err := events.DecodeEnvelope(e.Record.Envelope); err == nil && env.Type == typ {
			n++
		}
	}
	return n
}

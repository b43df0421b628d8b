package projections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// tale is a log whose calls are judged by a policy that the log holds: Bash
// asks, Drop is denied, all else is free.
type tale struct {
	*pt.Log

	t      *testing.T
	policy *policy.Policy
	event  string // that defines it
	ben    events.Actor
}

func newTale(t *testing.T) *tale {
	t.Helper()
	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Bash"}, DeniedTools: []string{"Drop"}})
	require.NoError(t, err)
	l := &tale{Log: pt.NewLog(t), t: t, policy: p}
	l.event = l.define(events.DefinePolicy, "policy", p.Document())
	l.ben = l.Person("ben", "Ben", "reviewer")
	return l
}

func (l *tale) define(kind events.DefinitionKind, name string, content []byte) string {
	p := events.NewPayload(content)
	return l.Append(events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
		Kind: kind, Name: name, Digest: events.DigestOf(content), Content: p.Ref(events.MediaJSON),
	}})[0].ID
}

// proposed writes a call of session s outside any run, with the effect and rule
// that it claims.
func (l *tale) proposed(batch, tool string, effect events.Effect, change func(*events.ToolCall)) pt.Call {
	p := events.NewPayload([]byte(`{"x":"` + batch + `"}`))
	e := events.ToolCall{
		CallKey: events.CallKey{BatchID: batch}, CallID: "call", Tool: tool, ToolSource: events.SourceBuiltin, ToolDigest: pt.Digest(tool),
		Arguments: p.Ref(events.MediaJSON), Agent: events.Agent{Name: "main"}, Model: "default", Principal: "carla",
		Enforcement: events.Enforced, Effect: effect, Rule: "required-tools", PolicyDigest: events.Digest(l.policy.Digest()),
	}
	if change != nil {
		change(&e)
	}
	m := l.Append(events.Draft{Session: "s", Payloads: []events.Payload{p}, Data: &e})[0]
	return pt.Call{ToolCall: e, Session: "s", Event: m.ID, Digest: m.Digest()}
}

// ofRun writes a call of a run of session s.
func (l *tale) ofRun(run, batch, tool string, effect events.Effect) pt.Call {
	return l.proposed(batch, tool, effect, func(e *events.ToolCall) { e.RunID = run })
}

// bypassing opens a run of session s under a bypass, and returns its id.
func (l *tale) bypassing(during time.Duration) string {
	actor := pt.Actor("carla", "agent")
	l.Append(events.Draft{Session: "s", Data: &events.RunStarted{
		RunID: "run-s", Principal: "carla", Actor: &actor, Agent: events.Agent{Name: "main"}, Query: events.NewPayload(nil).Ref(events.MediaText),
		Model: "default", ToolsDigest: pt.Digest("tools"), PolicyDigest: pt.Digest("policy"),
		Bypass: &events.Bypass{Reason: events.NewPayload(nil).Ref(events.MediaText), Until: events.At(l.Now().Add(during)), Actor: actor},
	}})
	return "run-s"
}

// cancel cancels the run of session s.
func (l *tale) cancel() {
	l.Append(events.Draft{Session: "s", Data: &events.RunCancelled{RunID: "run-s", Cause: events.CauseCancelled, Via: "test"}})
}

func (l *tale) free(batch string) pt.Call {
	return l.proposed(batch, "Read", events.EffectAllow, nil)
}

func (l *tale) protected(batch string) (pt.Call, pt.Request) {
	c := l.proposed(batch, "Bash", events.EffectAsk, nil)
	return c, l.Ask(c, nil)
}

// byHand writes a start as whoever can write to the log might.
func (l *tale) byHand(c pt.Call, change func(*events.ToolStarted)) {
	e := &events.ToolStarted{
		CallKey: c.CallKey, Tool: c.Tool, RequestDigest: c.Digest, Arguments: c.Arguments.CarriedBy(c.Event), Executor: "intruder/boot",
		Enforcement: events.Enforced, Isolation: "none",
		Warrant: events.Warrant{Kind: events.WarrantRule, Rule: c.Rule, PolicyDigest: c.PolicyDigest},
	}
	if change != nil {
		change(e)
	}
	l.Append(events.Draft{Session: c.Session, Data: e, Causation: c.Event})
}

// from has another program write.
func (l *tale) from(source string, write func()) {
	before := l.Source(source)
	defer l.Source(before)
	write()
}

// told writes a result that tells of a run by an executor.
func (l *tale) told(c pt.Call, executor string, status events.Status) {
	e := &events.ToolResult{CallKey: c.CallKey, Tool: c.Tool, Status: status, Cause: events.CauseHuman, Executor: executor, DurationMS: 5}
	if status == events.StatusAmbiguous {
		e.Cause, e.DurationMS = events.CauseExecutorLost, 0
	}
	l.Append(events.Draft{Session: c.Session, Data: e, Causation: c.Event})
}

func (l *tale) revoke(q pt.Request, decision string) {
	l.Append(events.Draft{Session: "s", Data: &events.Revocation{RequestID: q.RequestID, Decision: decision, Actor: l.ben}})
}

// found follows the log and returns the invariants that broke, in log order.
func (l *tale) found() []projections.Invariant {
	l.t.Helper()
	v := viewsOf(l.t, l.Log)
	all, err := v.ViolationsOf(l.t.Context(), "s", 100)
	require.NoError(l.t, err)
	var names []projections.Invariant
	for _, f := range all {
		require.NotEmpty(l.t, f.Detail)
		require.NotEmpty(l.t, f.EventID)
		names = append(names, f.Invariant)
	}
	return names
}

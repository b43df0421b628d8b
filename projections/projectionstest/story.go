package projectionstest

import (
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Call is a call that a story wrote.
type Call struct {
	events.ToolCall

	Session string
	Event   string
	Digest  events.Digest
}

// Request is a request that a story wrote. Digest and Arguments are the
// current ones.
type Request struct {
	events.ApprovalRequest

	Session string
	Event   string
	Digest  events.Digest
}

// Person returns an actor with a role, and writes the name that belongs to it.
func (l *Log) Person(id, name, role string) events.Actor {
	p := events.NewPayload([]byte(name))
	l.Append(events.Draft{Data: &events.Person{Person: id, Name: p.Ref(events.MediaText)}, Payloads: []events.Payload{p}})
	return Actor(id, role)
}

// Actor returns an actor with a role.
func Actor(id, role string) events.Actor {
	return events.Actor{
		Person: id, Credential: "session", Roles: []string{role}, Groups: []string{}, Method: "session",
		At: events.At(time.Date(2026, 11, 30, 13, 0, 0, 0, time.UTC)),
	}
}

// Run opens a run of a session and returns its id.
func (l *Log) Run(session, principal, query string) string {
	p, id := events.NewPayload([]byte(query)), "run-"+session
	actor := Actor(principal, "agent")
	l.Append(events.Draft{Session: session, Payloads: []events.Payload{p}, Data: &events.RunStarted{
		RunID: id, Principal: principal, Actor: &actor, Agent: events.Agent{Name: "deploy-bot"}, Query: p.Ref(events.MediaText),
		Model: "default", ToolsDigest: Digest("tools"), PolicyDigest: l.Policy,
	}})
	return id
}

// Round writes a finished model round with the given text that asked for n
// calls.
func (l *Log) Round(session, run, batch string, number, n int, text string) {
	message := events.NewPayload([]byte(`{"role":"assistant","content":` + quote(text) + `}`))
	l.Append(events.Draft{Session: session, Payloads: []events.Payload{message}, Data: &events.RoundFinished{
		RunID: run, BatchID: batch, Round: number, Attempt: 1, Agent: events.Agent{Name: "deploy-bot"}, Dialect: "openai-chat",
		Outcome: events.RoundCalls, FinishReason: "tool_calls", Message: message.Ref(events.MediaJSON), Calls: n,
	}})
}

// Propose writes a call.
func (l *Log) Propose(session, run, batch string, index int, tool, arguments string, effect events.Effect) Call {
	p := events.NewPayload([]byte(arguments))
	e := events.ToolCall{
		CallKey: events.CallKey{BatchID: batch, Index: index}, RunID: run, CallID: "call-" + tool, Tool: tool,
		ToolSource: events.SourceBuiltin, ToolDigest: Digest(tool), Arguments: p.Ref(events.MediaJSON),
		Agent: events.Agent{Name: "deploy-bot", Path: "migrator"}, Model: "default", Principal: "carla", Enforcement: events.Enforced,
		Effect: effect, Rule: "required-tools", PolicyDigest: l.Policy,
	}
	m := l.Append(events.Draft{Session: session, Payloads: []events.Payload{p}, Data: &e})[0]
	return Call{ToolCall: e, Session: session, Event: m.ID, Digest: m.Digest()}
}

// Ask writes the request of a call. change, if not nil, may alter it first.
func (l *Log) Ask(c Call, change func(*events.ApprovalRequest)) Request {
	e := events.ApprovalRequest{
		RequestID: events.NewRequestID(), CallKey: c.CallKey, Tool: c.Tool, Arguments: c.Arguments.CarriedBy(c.Event), Requester: c.Principal,
		Terms: events.Terms{
			Rule: "required-tools", PolicyDigest: l.Policy, Why: "required-tools names " + c.Tool, Quorum: 1, Approvers: []string{},
			Timeout: events.Duration(3 * time.Minute), StartWithin: events.Duration(5 * time.Minute),
		},
	}
	if change != nil {
		change(&e)
	}
	m := l.Append(events.Draft{Session: c.Session, Data: &e, Causation: c.Event})[0]
	return Request{ApprovalRequest: e, Session: c.Session, Event: m.ID, Digest: m.Digest()}
}

// Protected writes a call and its request.
func (l *Log) Protected(session, run, batch string, index int, tool, arguments string) (Call, Request) {
	c := l.Propose(session, run, batch, index, tool, arguments, events.EffectAsk)
	return c, l.Ask(c, nil)
}

// Decide writes a decision of a person and returns its id.
func (l *Log) Decide(q Request, actor events.Actor, verdict events.Verdict, comment string) string {
	e := events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: verdict, Cause: events.CauseHuman, Arguments: q.Arguments,
		Actor: &actor, Via: "console",
	}
	var payloads []events.Payload
	if comment != "" {
		p := events.NewPayload([]byte(comment))
		e.Comment, payloads = p.Ref(events.MediaText), []events.Payload{p}
	}
	return l.Append(events.Draft{Session: q.Session, Data: &e, Payloads: payloads, Causation: q.Event})[0].ID
}

// End writes a decline of the gate itself: a time-out, a cancellation.
func (l *Log) End(q Request, cause events.Cause) {
	l.Append(events.Draft{Session: q.Session, Causation: q.Event, Data: &events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: events.VerdictDecline, Cause: cause, Arguments: q.Arguments, Via: "gate",
	}})
}

// Modify writes a modification and the revision that it became, and returns
// the request under its new text with the modification's id.
func (l *Log) Modify(q Request, actor events.Actor, arguments string) (Request, string) {
	p := events.NewPayload([]byte(arguments))
	decision := l.Append(events.Draft{Session: q.Session, Payloads: []events.Payload{p}, Causation: q.Event, Data: &events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: events.VerdictModify, Cause: events.CauseHuman,
		Arguments: p.Ref(events.MediaJSON), Actor: &actor, Via: "console",
	}})[0]
	q.Arguments = p.Ref(events.MediaJSON).CarriedBy(decision.ID)
	revision := l.Append(events.Draft{Session: q.Session, Causation: decision.ID, Data: &events.Revision{
		RequestID: q.RequestID, Number: 1, Arguments: q.Arguments, By: actor.Person, Outcome: events.RevisionAsks, Terms: q.Terms,
	}})[0]
	q.Digest = revision.Digest()
	return q, decision.ID
}

// Start writes a start under a decision, or under the call's rule where that
// is "".
func (l *Log) Start(c Call, q *Request, decision string) {
	e := &events.ToolStarted{
		CallKey: c.CallKey, Tool: c.Tool, RequestDigest: c.Digest, Arguments: c.Arguments.CarriedBy(c.Event), Executor: "test/boot",
		Enforcement: events.Enforced, Isolation: "none",
		Warrant: events.Warrant{Kind: events.WarrantRule, Rule: c.Rule, PolicyDigest: c.PolicyDigest},
	}
	if q != nil {
		e.RequestDigest, e.Arguments, e.Warrant = q.Digest, q.Arguments, events.Warrant{Kind: events.WarrantDecision, Decision: decision}
	}
	l.Append(events.Draft{Session: c.Session, Data: e, Causation: c.Event})
}

// Result writes the end of a call that had started, or with another status
// than ok and error, of one that had not.
func (l *Log) Result(c Call, status events.Status, cause events.Cause, text string) {
	p := events.NewPayload([]byte(text))
	e := &events.ToolResult{CallKey: c.CallKey, Tool: c.Tool, Status: status, Cause: cause, Result: p.Ref(events.MediaText)}
	if status == events.StatusOK || status == events.StatusError {
		e.Executor, e.DurationMS = "test/boot", 31
	}
	l.Append(events.Draft{Session: c.Session, Data: e, Payloads: []events.Payload{p}, Causation: c.Event})
}

// Digest names something by its label.
func Digest(of string) events.Digest { return events.DigestOf([]byte(of)) }

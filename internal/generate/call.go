package generate

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
)

// call is a call as it is told.
type call struct {
	kind    *kind
	key     events.CallKey
	callID  string
	args    events.Payload
	ref     *events.Ref // of args, as the call has it
	minted  events.Minted
	request *events.ApprovalRequest // nil where nobody is asked
	asked   events.Minted           // that request
}

// ending is how a turn ends.
type ending int

const (
	carriedOut ending = iota // each call by itself
	cancelled                // its owner cancels the run while its requests wait
	taken                    // the same, by asking something new
	pending                  // its first request waits for ever
)

// turn tells a round with n calls, and what becomes of them. It reports whether
// the run was cancelled meanwhile.
func (t *telling) turn(n int, how ending) (over bool) {
	t.thinks()
	e := t.roundOf(events.RoundCalls, "tool_calls")
	e.Calls, e.Attempt = n, t.attempt()
	calls := make([]*call, n)
	for i := range calls {
		calls[i] = t.newCall(e.BatchID, i, how == pending && i == 0)
	}
	message := t.d.payload(t.message(calls))
	e.Message = message.Ref(events.MediaJSON)
	round := t.tell(e, about{cause: t.run.started, payloads: []events.Payload{message}})
	t.run.round, t.run.failed = t.run.round+1, 0
	t.run.calls, t.calls = t.run.calls+n, t.calls+n
	for _, c := range calls {
		t.propose(c, round.ID, how == pending)
	}
	return t.carry(calls, how)
}

// newCall thinks up a call; one that must wait is of a tool that asks, and that
// every agentd has.
func (t *telling) newCall(batch string, index int, waits bool) *call {
	c := &call{key: events.CallKey{BatchID: batch, Index: index}, callID: callID(batch, index), kind: &t.trade.unknown}
	if !t.d.chance(0.004) || waits {
		c.kind = &t.trade.kinds[t.d.IntN(len(t.trade.kinds))]
	}
	for waits && (c.kind.verdict.Effect != policy.Ask || c.kind.source != events.SourceBuiltin) {
		c.kind = &t.trade.kinds[t.d.IntN(len(t.trade.kinds))]
	}
	c.args = t.d.payload(c.kind.args(t))
	c.ref = c.args.Ref(events.MediaJSON)
	return c
}

// carried is how later events name the arguments.
func (c *call) carried() *events.Ref { return c.ref.CarriedBy(c.minted.ID) }

// propose tells the call, and its request or its refusal.
func (t *telling) propose(c *call, round string, long bool) {
	v := c.kind.verdict
	c.minted = t.tell(&events.ToolCall{
		CallKey: c.key, RunID: t.run.id, CallID: c.callID, Tool: c.kind.name, ToolSource: c.kind.source, ToolDigest: c.kind.digest, Arguments: c.ref,
		Agent: events.Agent{Name: t.agent}, Model: t.model, Principal: t.who.id, Enforcement: events.Enforced, Effect: v.Effect, Rule: v.Rule,
		PolicyDigest: t.trade.policy,
	}, about{cause: round, payloads: []events.Payload{c.args}})
	switch v.Effect {
	case policy.Ask:
		t.ask(c, long)
	case policy.Deny:
		t.deny(c)
	case policy.Allow:
	}
}

func (t *telling) ask(c *call, long bool) {
	v := c.kind.verdict
	terms := events.Terms{
		Rule: v.Rule, PolicyDigest: t.trade.policy, Why: v.Why, Quorum: 1, Approvers: []string{},
		Timeout: events.Duration(v.Timeout), StartWithin: events.Duration(v.StartWithin),
	}
	switch {
	case long:
		terms.Timeout = events.Duration(7 * 24 * time.Hour)
	case c.kind.grave && t.d.chance(0.5):
		terms.Quorum = 2
	case c.kind.grave:
		terms.Approvers, terms.FourEyes = []string{"group:sre"}, true
	}
	c.request = &events.ApprovalRequest{
		RequestID: t.d.requestID(), CallKey: c.key, Tool: c.kind.name, Arguments: c.carried(), Requester: t.who.id, Terms: terms,
	}
	c.asked = t.tell(c.request, about{cause: c.minted.ID})
}

func (t *telling) deny(c *call) {
	v := c.kind.verdict
	status, said := events.StatusDeclined, fmt.Sprintf("Declined by policy (rule %s): %s. The tool was not run.", v.Rule, v.Why)
	if v.Rule == ruleToolExists {
		status, said = events.StatusError, v.Why
	}
	t.unstarted(c, status, events.CausePolicy, c.minted.ID, said)
}

// unstarted tells the result of a call that never ran.
func (t *telling) unstarted(c *call, status events.Status, cause events.Cause, answers, said string) {
	p := t.d.payload([]byte(said))
	rule := c.kind.verdict.Rule
	t.tell(&events.ToolResult{
		CallKey: c.key, Tool: c.kind.name, Status: status, Cause: cause, Rule: rule, Result: p.Ref(events.MediaText),
	}, about{cause: answers, payloads: []events.Payload{p}})
}

// warrant is what a start stands on.
type warrant struct {
	events.Warrant

	cause  events.Cause
	digest events.Digest
	args   *events.Ref
}

// free is the warrant of a call that nobody was asked about.
func (t *telling) free(c *call) warrant {
	return warrant{
		Warrant: events.Warrant{Kind: events.WarrantRule, Rule: c.kind.verdict.Rule, PolicyDigest: t.trade.policy},
		cause:   events.CausePolicy, digest: c.minted.Digest(), args: c.carried(),
	}
}

// start tells the start of a call, and plans its result.
func (t *telling) start(c *call, w warrant, takes time.Duration) {
	executor := node + "/" + t.boot
	m := t.tell(&events.ToolStarted{
		CallKey: c.key, Tool: c.kind.name, Warrant: w.Warrant, RequestDigest: w.digest, Arguments: w.args, Executor: executor,
		Enforcement: events.Enforced, Isolation: "none",
	}, about{cause: c.minted.ID})
	lost := t.d.chance(0.003)
	t.plan(t.now.Add(takes), func() {
		if lost {
			t.lose(c, m.ID)
			return
		}
		status, stopped, result := t.produce(c)
		p := t.d.payload(result)
		t.tell(&events.ToolResult{
			CallKey: c.key, Tool: c.kind.name, Status: status, Cause: w.cause, Rule: c.kind.verdict.Rule, Result: p.Ref(events.MediaText),
			DurationMS: takes.Milliseconds(), StoppedBy: stopped, Executor: executor,
		}, about{cause: c.minted.ID, payloads: []events.Payload{p}})
	})
}

// lose tells what a process says of a call that one before it had started.
func (t *telling) lose(c *call, start string) {
	t.tell(&events.Recovered{BootID: t.boot, Calls: []events.CallKey{c.key}}, about{idle: unfolded})
	p := t.d.payload([]byte("This tool was started, but its result was lost: whether it had its effect is unknown. It was not run again."))
	t.tell(&events.ToolResult{
		CallKey: c.key, Tool: c.kind.name, Status: events.StatusAmbiguous, Cause: events.CauseExecutorLost, Rule: c.kind.verdict.Rule,
		Result: p.Ref(events.MediaText),
	}, about{cause: start, payloads: []events.Payload{p}})
}

// produce is what a tool gives back.
func (t *telling) produce(c *call) (status events.Status, stopped string, result []byte) {
	switch x := t.d.Float64(); {
	case x < 0.05:
		return events.StatusError, "", fmt.Appendf(nil, "exit status %d: %s\n%s", t.d.between(1, 127), t.text.title(t.d), t.text.some(t.d, t.d.size(150, 0.8, 4<<10)))
	case x < 0.055:
		return events.StatusError, "timeout", []byte("the command was stopped: it ran longer than 2m0s")
	case x < 0.0562:
		return events.StatusOK, "", t.text.some(t.d, t.d.between(300<<10, 500<<10))
	case x < 0.065:
		return events.StatusOK, "", t.text.some(t.d, t.d.between(10<<10, 100<<10))
	}
	head := fmt.Appendf(nil, "%s %s %d\n", c.kind.name, t.text.identifier(t.d), t.d.IntN(1e6))
	return events.StatusOK, "", append(head, t.text.some(t.d, t.d.size(200, 1.1, 60<<10))...)
}

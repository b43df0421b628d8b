package generate

import (
	"fmt"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// story makes sessions that look like work: each asks once, runs a few calls,
// some of them approved or declined by people, and answers.
type story struct {
	minter *events.Minter
	policy events.Digest
	n      int // sessions made
	now    time.Time
}

func newStory() *story {
	s := &story{policy: events.DigestOf([]byte("generated policy")), now: time.Now()}
	s.minter = events.NewMinter("agentd/generated/"+events.NewID(), func() time.Time { return s.now })
	return s
}

// sessions makes whole sessions, about as many events as asked for.
func (s *story) sessions(count int) ([]journal.Entry, error) {
	var all []journal.Entry
	for len(all) < count {
		minted, err := s.session()
		if err != nil {
			return nil, err
		}
		all = append(all, entriesOf(minted)...)
	}
	return all, nil
}

func (s *story) session() ([]events.Minted, error) {
	s.n++
	s.now = s.now.Add(time.Second)
	d := &telling{story: s, session: events.NewRequestID(), run: events.NewID(), batch: events.NewID(), who: fmt.Sprintf("person-%d", s.n%20)}
	d.begin()
	calls := 1 + s.n%3
	d.round(1, calls)
	kinds := callKinds()
	for i := range calls {
		d.call(i, kinds[(s.n+i)%len(kinds)])
	}
	d.end()
	return s.minter.Mint(d.drafts...)
}

// telling is one session as it is told.
type telling struct {
	*story
	session, run, batch, who string
	drafts                   []events.Draft
}

func (d *telling) add(e events.Event, payloads ...events.Payload) string {
	id := events.NewID()
	d.drafts = append(d.drafts, events.Draft{ID: id, Session: d.session, Data: e, Payloads: payloads})
	return id
}

func (d *telling) agent() events.Agent { return events.Agent{Name: "main"} }

func (d *telling) begin() {
	q := events.NewPayload(fmt.Appendf(nil, "Please work on ticket %d and tell me what you changed.", d.n))
	d.add(&events.RunStarted{
		RunID: d.run, Principal: d.who, Agent: d.agent(), Query: q.Ref(events.MediaText), Model: "generated", ToolsDigest: d.policy, PolicyDigest: d.policy,
	}, q)
}

func (d *telling) round(number, calls int) {
	outcome, text := events.RoundCalls, "tool_calls"
	if calls == 0 {
		outcome, text = events.RoundText, "stop"
	}
	m := events.NewPayload(fmt.Appendf(nil, `{"role":"assistant","content":"Working on ticket %d, step %d."}`, d.n, number))
	d.add(&events.RoundFinished{
		RunID: d.run, BatchID: fmt.Sprintf("%s-%d", d.batch, number), Round: number, Attempt: 1, Agent: d.agent(), Dialect: "openai-chat",
		Outcome: outcome, FinishReason: text, Message: m.Ref(events.MediaJSON), Calls: calls, Usage: events.Usage{Prompt: 900, Completion: 80, Total: 980},
	}, m)
}

// callKind is a call with its fate: one that asks is approved if it runs, and
// else declined.
type callKind struct {
	tool       string
	asks, runs bool
}

func callKinds() []callKind {
	return []callKind{{"Read", false, true}, {"Write", true, true}, {"Bash", true, true}, {"Edit", true, false}}
}

// call tells one call from its proposal to its result.
func (d *telling) call(index int, kind callKind) {
	args := events.NewPayload(fmt.Appendf(nil, `{"path":"src/module%d/file%d.go","content":%q}`, d.n%97, index, strings.Repeat("line of text ", 5+d.n%25)))
	effect := events.EffectAllow
	if kind.asks {
		effect = events.EffectAsk
	}
	c := &events.ToolCall{
		CallKey: events.CallKey{BatchID: d.batch + "-1", Index: index}, RunID: d.run, CallID: fmt.Sprintf("call_%d", index), Tool: kind.tool,
		ToolSource: events.SourceBuiltin, ToolDigest: d.policy, Arguments: args.Ref(events.MediaJSON), Agent: d.agent(), Model: "generated",
		Principal: d.who, Enforcement: events.Enforced, Effect: effect, Rule: "required-tools", PolicyDigest: d.policy,
	}
	id := d.add(c, args)
	warrant := events.Warrant{Kind: events.WarrantRule, Rule: c.Rule, PolicyDigest: d.policy}
	about := id
	if kind.asks {
		about, warrant = d.decide(c, id, kind.runs)
	}
	if kind.runs {
		d.start(c, id, about, warrant)
	}
	d.result(c, kind)
}

// citing drafts an event that names the digest of one minted earlier in the session.
func (d *telling) citing(id string, then func(events.Digest) events.Event) events.Draft {
	return events.Draft{ID: events.NewID(), Session: d.session, From: func(earlier []events.Minted) (events.Event, error) {
		for _, m := range earlier {
			if m.ID == id {
				return then(m.Digest()), nil
			}
		}
		return nil, fmt.Errorf("event %s was not minted before", id)
	}}
}

func (d *telling) decide(c *events.ToolCall, call string, approve bool) (request string, w events.Warrant) {
	args := c.Arguments.CarriedBy(call)
	q := &events.ApprovalRequest{
		RequestID: events.NewRequestID(), CallKey: c.CallKey, Tool: c.Tool, Arguments: args, Requester: d.who,
		Terms: events.Terms{
			Rule: c.Rule, PolicyDigest: d.policy, Why: "required-tools names " + c.Tool, Quorum: 1, Approvers: []string{},
			Timeout: events.Duration(3 * time.Minute), StartWithin: events.Duration(5 * time.Minute),
		},
	}
	request = d.add(q)
	verdict := events.VerdictDecline
	if approve {
		verdict = events.VerdictApprove
	}
	draft := d.citing(request, func(digest events.Digest) events.Event {
		return &events.Decision{
			RequestID: q.RequestID, RequestDigest: digest, Verdict: verdict, Cause: events.CauseHuman, Arguments: args, Via: "console",
			Actor: &events.Actor{Person: "reviewer-1", Credential: "session", Roles: []string{"reviewer"}, Groups: []string{"sre"}, Method: "session", At: events.At(d.now)},
		}
	})
	d.drafts = append(d.drafts, draft)
	return request, events.Warrant{Kind: events.WarrantDecision, Decision: draft.ID}
}

func (d *telling) start(c *events.ToolCall, call, about string, w events.Warrant) {
	args := c.Arguments.CarriedBy(call)
	d.drafts = append(d.drafts, d.citing(about, func(digest events.Digest) events.Event {
		return &events.ToolStarted{
			CallKey: c.CallKey, Tool: c.Tool, Warrant: w, RequestDigest: digest, Arguments: args, Executor: "generated/1",
			Enforcement: events.Enforced, Isolation: "none",
		}
	}))
}

func (d *telling) result(c *events.ToolCall, kind callKind) {
	p := events.NewPayload(fmt.Appendf(nil, "done with %s in session %d\n%s", c.Tool, d.n, strings.Repeat("output line\n", d.n%10)))
	e := &events.ToolResult{CallKey: c.CallKey, Tool: c.Tool, Status: events.StatusDeclined, Cause: events.CausePolicy, Result: p.Ref(events.MediaText)}
	if kind.asks {
		e.Cause = events.CauseHuman
	}
	if kind.runs {
		e.Status, e.DurationMS, e.Executor = events.StatusOK, int64(d.n%900), "generated/1"
	}
	d.add(e, p)
}

func (d *telling) end() {
	d.round(2, 0)
	d.add(&events.RunFinished{RunID: d.run, Reason: events.FinishStop, Rounds: 2, Calls: 1 + d.n%3, Usage: events.Usage{Prompt: 1800, Completion: 160, Total: 1960}})
}

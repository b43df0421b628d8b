package gate

import (
	"context"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// turn is a proposal on its way to drafts. It belongs to one goroutine.
type turn struct {
	Proposal

	gate     *Gate
	ctx      context.Context //nolint:containedctx // of Propose, which the turn does not outlive
	session  *session
	foresees bool       // a call of it asks under what it would change
	seen     *foresight // what its calls so far would change

	drafts   []events.Draft
	requests []*events.ApprovalRequest
	atOnce   []free
}

// free is a call that runs without asking and is carried at once.
type free struct {
	draft     events.Draft
	call      *events.ToolCall
	arguments []byte
}

// proposeAll drafts a turn, and the starts of its calls that need not wait.
func (g *Gate) proposeAll(ctx context.Context, s *session, p Proposal) (drafts, starts []events.Draft) {
	t := &turn{Proposal: p, gate: g, ctx: ctx, session: s, seen: g.foresight(), drafts: slices.Clone(p.Before)}
	judged := make([]judgement, len(p.Calls))
	for i, c := range p.Calls {
		if judged[i] = g.judge(c.Tool, c.Arguments); p.Refuse != nil {
			judged[i] = refuse(judged[i].tool, p.Refuse.Rule, p.Refuse.Why)
		}
		t.foresees = t.foresees || judged[i].effect == events.EffectAsk && g.changes(c.Tool)
	}
	for i, c := range p.Calls {
		t.propose(c, judged[i])
	}
	t.lengthen()
	return t.drafts, t.starts()
}

// propose drafts a call, and what follows from it at once.
func (t *turn) propose(c ProposedCall, j judgement) {
	if j.effect == events.EffectAsk && t.tooMany() {
		j = refuse(j.tool, rulePending, "Too many calls wait for approval already, so the tool was not run. Wait until some are decided.")
	}
	seen, j := t.foresee(c, j)
	payload, ref := argumentsPayload(c.Arguments)
	call := t.call(c, j, ref)
	draft := events.Draft{ID: events.NewID(), Session: t.Session, Data: call, Payloads: []events.Payload{payload}, Causation: t.Causation}
	t.drafts = append(t.drafts, draft)
	switch j.effect {
	case events.EffectAsk:
		t.request(draft.ID, call, j, seen)
	case events.EffectDeny:
		t.drafts = append(t.drafts, denied(draft.ID, t.Session, call, j))
	case events.EffectAllow:
		if args, err := events.DecodeArguments(c.Arguments); err == nil && c.AtOnce {
			t.atOnce = append(t.atOnce, free{draft, call, args.Text})
		}
	}
}

func (t *turn) call(c ProposedCall, j judgement, arguments *events.Ref) *events.ToolCall {
	call := &events.ToolCall{
		CallKey: events.CallKey{BatchID: t.BatchID, Index: c.Index}, RunID: t.RunID, CallID: clip(c.CallID), Tool: toolName(c.Tool),
		ToolSource: events.SourceUnknown, Arguments: arguments, Agent: t.Agent, Model: t.Model, Principal: t.Principal,
		Enforcement: events.Enforced, Effect: j.effect, Rule: j.rule, PolicyDigest: t.gate.judgedBy(j),
	}
	if j.tool != nil {
		call.ToolSource, call.ToolDigest = j.tool.Source, j.tool.digest
	}
	return call
}

// foresee says what a call would change, where it asks; nil for tools that do
// not change one file. Where its tool would refuse it, nobody is asked. A free
// call is foreseen for the sake of those after it alone, and bound by nothing.
func (t *turn) foresee(c ProposedCall, j judgement) (*Foreseen, judgement) {
	if !t.foresees || j.effect == events.EffectDeny || !t.gate.changes(c.Tool) {
		return nil, j
	}
	seen, err := t.seen.foresee(t.ctx, j.tool, c.Arguments)
	switch {
	case j.effect != events.EffectAsk:
		return nil, j
	case err != nil:
		return nil, unforeseen(j.tool, err)
	}
	return &seen, j
}

// request drafts the request of a call that must ask.
func (t *turn) request(callEvent string, call *events.ToolCall, j judgement, seen *Foreseen) {
	e := &events.ApprovalRequest{
		RequestID: events.NewRequestID(), CallKey: call.CallKey, Tool: call.Tool, Arguments: call.Arguments.CarriedBy(callEvent),
		Requester: call.Principal, Terms: t.gate.terms(j, t.Handlers),
	}
	d := events.Draft{ID: events.NewID(), Session: t.Session, Causation: callEvent, Data: e}
	if seen != nil {
		var preview events.Payload
		preview, e.Preview = t.seen.preview(*seen)
		e.Target, d.Payloads = &seen.Target, []events.Payload{preview}
	}
	t.requests = append(t.requests, e)
	t.drafts = append(t.drafts, d)
}

// lengthen gives the approvals of a turn with several requests as much more time
// to start as the other requests may wait: until those are decided it cannot.
func (t *turn) lengthen() {
	if len(t.requests) < 2 {
		return
	}
	longest := slices.MaxFunc(t.requests, func(a, b *events.ApprovalRequest) int { return int(a.Timeout - b.Timeout) }).Timeout
	for _, q := range t.requests {
		if !t.gate.readOnly(q.Tool) {
			q.StartWithin = lengthened(q.StartWithin, longest)
		}
	}
}

// lengthened adds to a time, up to the longest that can be recorded.
func lengthened(within, by events.Duration) events.Duration {
	return min(within+by, events.Duration(10*365*24*time.Hour))
}

// starts drafts the starts of the free calls that are carried at once. Where the
// turn waits for people, those are of read-only tools.
func (t *turn) starts() (starts []events.Draft) {
	waits := len(t.requests) > 0 || t.gate.waitsFor(t.session, t.BatchID)
	var arguments [][]byte
	for _, f := range t.atOnce {
		if waits && !t.gate.readOnly(f.call.Tool) || t.gate.checksAtStart(f.call.Tool) {
			continue
		}
		starts = append(starts, t.gate.freeStart(t.Session, f.draft, f.call))
		arguments = append(arguments, f.arguments)
	}
	t.gate.begin(starts, arguments)
	return starts
}

// waitsFor reports whether an earlier proposal of a turn left a request pending.
func (g *Gate) waitsFor(s *session, batch string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return undecidedTurn(s.Session, batch)
}

// checksAtStart reports whether something is to be verified just before a call
// of the tool starts, so that it does not start with its turn.
func (g *Gate) checksAtStart(tool string) bool {
	t := g.tools[tool]
	return t != nil && t.Verify != nil
}

// tooMany reports whether the session or the principal has as many undecided
// requests as it may, with those of the turn.
func (t *turn) tooMany() bool {
	g, asking := t.gate, len(t.requests)
	g.mu.Lock()
	defer g.mu.Unlock()
	open := asking
	for _, q := range t.session.Requests {
		if q.State == fold.Pending {
			open++
		}
	}
	return open >= g.opt.MaxPending || g.pending[t.Principal]+asking >= g.opt.MaxPendingPrincipal
}

package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Proposal is one turn's calls, as a model asked for them.
type Proposal struct {
	Session   string
	RunID     string // "" where the loop is not ours
	BatchID   string
	Agent     events.Agent
	Model     string
	Principal string
	// Before are events of the same session that go first in the same commit:
	// the round that asked.
	Before []events.Draft
	// Causation is the id of the event that asked.
	Causation string
	Calls     []ProposedCall
	// Refuse ends all the calls as errors, without asking: a limit of the loop.
	Refuse *Refusal
	// Handlers says that the proposer has an approval handler: the recorded
	// terms of the requests then admit its decisions.
	Handlers bool
}

// Refusal says why calls do not run that no policy was asked about.
type Refusal struct {
	Rule string // the limit's name
	Why  string // for the model
}

// ProposedCall is one call of a proposal.
type ProposedCall struct {
	Index  int    // its place in the model's order
	CallID string // the provider's id, after repair
	Tool   string // as the model wrote it
	// Arguments are the model's own text, to the byte.
	Arguments []byte
	// AtOnce says that the proposer carries the call as soon as Propose
	// returns, if it need not ask: its start then goes in the same commit.
	AtOnce bool
}

// Propose records a turn's calls, what policy says of each, and a request for
// each that must ask, in one commit. A call that is denied or that no tool can
// run gets its result in the same commit. When it returns the fold has them.
// ErrNotCounted where the fold refused one: its key was used, or the
// conversation is another's or has no such run.
func (g *Gate) Propose(ctx context.Context, p Proposal) error {
	_, unpin, err := g.pin(ctx, p.Session) // what waits in it already is counted
	if err != nil {
		return err
	}
	defer unpin()
	drafts, starts := g.proposeAll(p)
	if len(drafts) == 0 {
		return nil
	}
	outcomes, err := g.append(ctx, p.Session, slices.Concat(drafts, starts)...)
	if err != nil {
		if !errors.Is(err, ErrNotBack) {
			g.unbegin(starts)
		}
		return err
	}
	for i, o := range outcomes[:len(drafts)] { // who carries a call sees what became of its start
		if !o.Counts {
			return fmt.Errorf("%w: %s of session %.80q: %s", ErrNotCounted, drafts[i].Data.Type(), p.Session, o.Reason)
		}
	}
	return nil
}

// proposeAll drafts a turn, and the starts of its calls that need not wait.
func (g *Gate) proposeAll(p Proposal) (drafts, starts []events.Draft) {
	drafts = append(drafts, p.Before...)
	asking := 0
	var arguments [][]byte
	for _, c := range p.Calls {
		d, asks := g.proposeCall(p, c, asking)
		drafts = append(drafts, d...)
		if asks {
			asking++
		}
		call, ok := d[0].Data.(*events.ToolCall)
		if !c.AtOnce || !ok || call.Effect != events.EffectAllow {
			continue
		}
		if args, err := events.DecodeArguments(c.Arguments); err == nil {
			starts = append(starts, g.freeStart(p.Session, d[0], call))
			arguments = append(arguments, args.Text)
		}
	}
	g.begin(starts, arguments)
	return drafts, starts
}

// proposeCall drafts a call, and what follows from it at once.
func (g *Gate) proposeCall(p Proposal, c ProposedCall, asking int) (drafts []events.Draft, asks bool) {
	j := g.judge(c.Tool, c.Arguments)
	if p.Refuse != nil {
		j = refuse(j.tool, p.Refuse.Rule, p.Refuse.Why)
	}
	if j.effect == events.EffectAsk && g.tooMany(p, asking) {
		j = refuse(j.tool, rulePending, "Too many calls wait for approval already, so the tool was not run. Wait until some are decided.")
	}
	payload, ref := argumentsPayload(c.Arguments)
	call := &events.ToolCall{
		CallKey: events.CallKey{BatchID: p.BatchID, Index: c.Index}, RunID: p.RunID, CallID: clip(c.CallID), Tool: toolName(c.Tool),
		ToolSource: events.SourceUnknown, Arguments: ref, Agent: p.Agent, Model: p.Model, Principal: p.Principal,
		Enforcement: events.Enforced, Effect: j.effect, Rule: j.rule, PolicyDigest: events.Digest(g.policy.Digest()),
	}
	if j.tool != nil {
		call.ToolSource, call.ToolDigest = j.tool.Source, j.tool.digest
	}
	draft := events.Draft{ID: events.NewID(), Session: p.Session, Data: call, Payloads: []events.Payload{payload}, Causation: p.Causation}
	drafts = append(drafts, draft)
	switch j.effect {
	case events.EffectAsk:
		return append(drafts, g.requestFor(draft.ID, p, call, j)), true
	case events.EffectDeny:
		return append(drafts, denied(draft.ID, p.Session, call, j)), false
	case events.EffectAllow:
	}
	return drafts, false
}

// argumentsPayload keeps the arguments, to the byte. Beyond the bound of an
// event a visible cut is kept, and the call is refused.
func argumentsPayload(arguments []byte) (events.Payload, *events.Ref) {
	if len(arguments) <= MaxArguments {
		p := events.NewPayload(arguments)
		return p, p.Ref(events.MediaJSON)
	}
	p := events.NewPayload(arguments[:MaxArguments])
	r := p.Ref(events.MediaBin)
	r.TruncatedFrom = events.NewWhole(p.Salt, int64(len(arguments)), events.DigestOf(arguments))
	return p, r
}

// toolName is a tool's name as it can be recorded: what a model writes may be
// empty or of any length.
func toolName(s string) string {
	if s == "" {
		return "(no name)"
	}
	return clip(s)
}

func (g *Gate) requestFor(callEvent string, p Proposal, call *events.ToolCall, j judgement) events.Draft {
	return events.Draft{
		ID: events.NewID(), Session: p.Session, Causation: callEvent,
		Data: &events.ApprovalRequest{
			RequestID: events.NewRequestID(), CallKey: call.CallKey, Tool: call.Tool, Arguments: call.Arguments.CarriedBy(callEvent),
			Requester: call.Principal, Terms: g.terms(j, p.Handlers),
		},
	}
}

// denied is the result of a call that policy or the gate's own rules refuse.
func denied(callEvent, session string, call *events.ToolCall, j judgement) events.Draft {
	text, status := j.why, events.StatusError
	if !j.refused {
		text, status = deniedText(j), events.StatusDeclined
	}
	p, ref := resultPayload(Output{Content: []byte(text)})
	return events.Draft{
		Session: session, Causation: callEvent, Payloads: []events.Payload{p},
		Data: &events.ToolResult{
			CallKey: call.CallKey, Tool: call.Tool, Status: status, Cause: events.CausePolicy, Rule: j.rule, Result: ref,
		},
	}
}

func deniedText(j judgement) string {
	return fmt.Sprintf("Declined by policy (rule %s): %s. The tool was not run.", j.rule, j.why)
}

// tooMany reports whether the session or the principal has as many undecided
// requests as it may.
func (g *Gate) tooMany(p Proposal, asking int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	open := asking
	if s := g.sessions[p.Session]; s != nil {
		for _, q := range s.Requests {
			if q.State == fold.Pending {
				open++
			}
		}
	}
	return open >= g.opt.MaxPending || g.pending[p.Principal]+asking >= g.opt.MaxPendingPrincipal
}

// Refused reports whether an error of the gate means that the log takes no new
// work now: nothing was recorded, nothing runs.
func Refused(err error) bool { return errors.Is(err, events.ErrRefused) }

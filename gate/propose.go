package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
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
	// returns, if it need not ask and its turn does not hold it back: its start
	// then goes in the same commit.
	AtOnce bool
}

// Propose records a turn's calls, what policy says of each, and a request for
// each that must ask, in one commit. A call that is denied or that no tool can
// run gets its result in the same commit. When it returns the fold has them.
// ErrNotCounted where the fold refused one: its key was used, or the
// conversation is another's or has no such run.
func (g *Gate) Propose(ctx context.Context, p Proposal) error {
	s, unpin, err := g.pin(ctx, p.Session) // what waits in it already is counted
	if err != nil {
		return err
	}
	defer unpin()
	drafts, starts := g.proposeAll(ctx, s, p)
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

// Refused reports whether an error of the gate means that the log takes no new
// work now: nothing was recorded, nothing runs.
func Refused(err error) bool { return errors.Is(err, events.ErrRefused) }

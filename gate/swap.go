package gate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/policy"
)

// Policy returns the policy under which the gate judges now.
func (g *Gate) Policy() *policy.Policy { return g.policy.Load() }

// swap makes the gate judge under another policy, in this order: the act and the
// policy's document become durable in one commit, so that the log has what judges
// before it does; then calls are judged by it. A crash in between leaves the next
// start to whoever has the file. What is pending is to be judged again then: see
// rejudge. offers.mu is held.
func (g *Gate) swap(ctx context.Context, p *policy.Policy, act *events.Access) error {
	if _, err := g.log.Append(ctx, events.Draft{Data: act}, policyDefinition(p).draft()); err != nil {
		return fmt.Errorf("record the policy before its first use: %w", err)
	}
	g.policy.Store(p)
	return nil
}

// rejudge judges what is pending again: requests that no approval can make run any
// more end, as at a start.
func (g *Gate) rejudge(ctx context.Context) {
	for _, id := range g.Unfinished() {
		g.retire(ctx, id)
	}
}

func policyDefinition(p *policy.Policy) Definition {
	return Definition{Kind: events.DefinePolicy, Name: "policy", Content: p.Document()}
}

// newestPolicy is the digest of the newest policy that the log defines.
func (g *Gate) newestPolicy() events.Digest {
	g.accepted.mu.RLock()
	defer g.accepted.mu.RUnlock()
	return g.accepted.fold.Policy.Digest
}

// noteBoot notes what held before this boot, when its record comes back.
func (g *Gate) noteBoot(r fold.Record) {
	if e, ok := r.Event.(*events.Boot); ok && e.BootID == g.opt.Boot {
		g.accepted.mu.Lock()
		defer g.accepted.mu.Unlock()
		g.accepted.was = g.accepted.fold.Policy
	}
}

// PolicyBefore returns the policy that the log named last before this boot, nil
// where it names none. It is known once Ready. An error is of a text that cannot
// be read: it was erased, or is of another build.
func (g *Gate) PolicyBefore(ctx context.Context) (*policy.Policy, error) {
	g.accepted.mu.RLock()
	was := g.accepted.was
	g.accepted.mu.RUnlock()
	if was.Digest == "" {
		return nil, nil //nolint:nilnil // none is an answer
	}
	text, err := g.log.Payload(ctx, was.EventID, was.Content)
	if err != nil {
		return nil, fmt.Errorf("the policy before this start: %w", err)
	}
	return policy.Read(text)
}

// Known returns the gate's tools as a policy sees their calls, by name.
func (g *Gate) Known() []policy.Call {
	calls := make([]policy.Call, 0, len(g.tools))
	for _, name := range slices.Sorted(maps.Keys(g.tools)) {
		calls = append(calls, g.tools[name].asked())
	}
	return calls
}

// asked is a call of the tool as a policy sees it.
func (t *judgedTool) asked() policy.Call {
	return policy.Call{Tool: t.Name, Source: string(t.Source), Server: t.Server}
}

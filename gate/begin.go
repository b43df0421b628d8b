package gate

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// A free call that its proposer carries at once is started in the commit that
// records it, behind all calls and requests of the turn: one durable step less.
// The start is judged by the fold at its place as any other, and the tool runs
// only after it has come back. Between the two the gate remembers, by the id of
// the start, that it minted it and has not run the tool; a process that dies in
// between leaves a start without a result, which ends as ambiguous like any.

// freeStart drafts the start of a call that policy lets run without asking.
func (g *Gate) freeStart(session string, draft events.Draft, call *events.ToolCall) events.Draft {
	p := plan{
		call:    fold.Call{ToolCall: *call, EventID: draft.ID},
		warrant: events.Warrant{Kind: events.WarrantRule, Rule: call.Rule, PolicyDigest: call.PolicyDigest},
		ref:     call.Arguments.CarriedBy(draft.ID),
	}
	return events.Draft{
		ID: events.NewID(), Session: session, Causation: draft.ID,
		From: func(earlier []events.Minted) (events.Event, error) {
			for _, m := range earlier {
				if m.ID == draft.ID {
					p.digest = m.Digest()
					return g.started(p), nil
				}
			}
			return nil, fmt.Errorf("start of call %s: it is not in the same append", call.CallKey)
		},
	}
}

// begin remembers starts that are about to be appended, with the arguments of
// their calls.
func (g *Gate) begin(starts []events.Draft, arguments [][]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, d := range starts {
		g.begun[d.ID] = arguments[i]
	}
}

// unbegin forgets starts that were not appended.
func (g *Gate) unbegin(starts []events.Draft) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range starts {
		delete(g.begun, d.ID)
	}
}

// takeBegun hands out the arguments of a start that was remembered, once.
func (g *Gate) takeBegun(start string) (arguments []byte, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	arguments, ok = g.begun[start]
	delete(g.begun, start)
	return arguments, ok
}

// runBegun runs the tool of a call whose start came back with the call.
func (g *Gate) runBegun(ctx context.Context, session string, p plan, run Run) (ran bool, err error) {
	arguments, ok := g.takeBegun(p.call.Start.EventID)
	if !ok {
		return false, nil
	}
	runCtx, release := g.running(ctx, callID{session, p.call.CallKey}, p.call.RunID)
	defer release()
	if runCtx.Err() != nil { // no tool need begin to be stopped; perform says why
		run = func(context.Context, []byte) Output {
			return Output{Content: []byte("The call was stopped before the tool began." + notRun), Failed: true}
		}
	}
	return true, g.perform(ctx, runCtx, session, p, arguments, run)
}

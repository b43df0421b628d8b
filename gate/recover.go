package gate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
)

// recover ends what an earlier boot of this node had started and never told
// the result of: such calls become ambiguous, and are never run again. It also
// ends what waits for an approval that cannot come any more.
func (g *Gate) recover(ctx context.Context) error {
	for _, id := range g.Unfinished() {
		lost, err := g.lost(ctx, id)
		if err != nil {
			return fmt.Errorf("gate: recover: %w", err)
		}
		for keys := range slices.Chunk(lost, recoverAtOnce) {
			if err := g.recoverSome(ctx, id, keys); err != nil {
				return fmt.Errorf("gate: recover session %.80q: %w", id, err)
			}
		}
		g.retire(ctx, id)
	}
	return context.Cause(ctx)
}

// recoverSome ends calls that were lost. A start that cannot must fail: its
// calls would seem to run.
func (g *Gate) recoverSome(ctx context.Context, id string, keys []events.CallKey) error {
	_, unpin, err := g.pin(ctx, id)
	if err != nil {
		return err
	}
	defer unpin()
	ctx, cancel := context.WithTimeoutCause(ctx, g.opt.JudgedWithin, ErrNotTaken)
	defer cancel()
	return g.record(ctx, id, g.lostDrafts(id, keys)...)
}

// recoverAtOnce bounds the calls of one commit, whose keys one event names.
const recoverAtOnce = 64

// lostText is what the model reads of a call whose result nobody told.
const lostText = "This tool was started, but its result was lost: whether it had its effect is unknown. It was not run again."

// lost returns the calls of a session that were started by a process that is
// gone, in the model's order.
func (g *Gate) lost(ctx context.Context, id string) ([]events.CallKey, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.unfinished[id].started {
		return nil, nil
	}
	s, err := g.load(ctx, id)
	if err != nil {
		return nil, err
	}
	defer g.unload(s)
	var keys []events.CallKey
	for key, c := range s.Calls {
		if c.Start != nil && c.Result == nil && g.gone(c.Start.Executor) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, inOrder)
	return keys, nil
}

func inOrder(a, b events.CallKey) int {
	return cmp.Or(cmp.Compare(a.BatchID, b.BatchID), cmp.Compare(a.Index, b.Index))
}

// lostDrafts says what was found and ends each call. The session is pinned.
func (g *Gate) lostDrafts(id string, keys []events.CallKey) []events.Draft {
	g.mu.Lock()
	defer g.mu.Unlock()
	drafts := []events.Draft{{Session: id, Data: &events.Recovered{BootID: g.opt.Boot, Calls: keys}}}
	for _, key := range keys {
		c := g.sessions[id].Calls[key]
		p := events.NewPayload([]byte(lostText))
		drafts = append(drafts, events.Draft{
			Session: id, Causation: c.Start.EventID, Payloads: []events.Payload{p},
			Data: &events.ToolResult{
				CallKey: key, Tool: c.Tool, Status: events.StatusAmbiguous, Cause: events.CauseExecutorLost,
				Rule: ruleOf(*c), Result: p.Ref(events.MediaText),
			},
		})
	}
	return drafts
}

package gate

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
)

// recover ends what an earlier boot of this node had started and never told
// the result of: such calls become ambiguous, and are never run again.
func (g *Gate) recover(ctx context.Context) error {
	for _, id := range g.Unfinished() {
		drafts := g.lost(id)
		if len(drafts) == 0 {
			continue
		}
		if _, err := g.append(ctx, id, drafts...); err != nil {
			return fmt.Errorf("gate: recover session %.80q: %w", id, err)
		}
	}
	return nil
}

func (g *Gate) lost(id string) []events.Draft {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sessions[id]
	if s == nil {
		return nil
	}
	var drafts []events.Draft
	var keys []events.CallKey
	for key, c := range s.Calls {
		if c.Start == nil || c.Result != nil || !g.gone(c.Start.Executor) {
			continue
		}
		keys = append(keys, key)
		p := events.NewPayload([]byte("The process that ran this tool ended before it told the result: whether the tool had its effect is unknown. It was not run again."))
		drafts = append(drafts, events.Draft{
			Session: id, Causation: c.Start.EventID, Payloads: []events.Payload{p},
			Data: &events.ToolResult{
				CallKey: key, Tool: c.Tool, Status: events.StatusAmbiguous, Cause: events.CauseExecutorLost,
				Rule: c.Rule, Result: p.Ref(events.MediaText),
			},
		})
	}
	if len(keys) == 0 {
		return nil
	}
	return append([]events.Draft{{Session: id, Data: &events.Recovered{BootID: g.opt.Boot, Calls: keys}}}, drafts...)
}

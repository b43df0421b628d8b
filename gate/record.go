package gate

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Begin records the start of a run and says why it does not count, or "".
func (g *Gate) Begin(ctx context.Context, run events.Draft) (fold.Reason, error) {
	outcomes, err := g.append(ctx, run.Session, run)
	if err != nil {
		return "", err
	}
	return outcomes[0].Reason, nil
}

// Record appends what ends work, a round or a run, and waits until the fold has
// passed it. It is tried again until the log takes it, has stopped, or ctx
// ends.
func (g *Gate) Record(ctx context.Context, draft events.Draft) error {
	return g.record(ctx, draft.Session, draft)
}

// endWithout records the result of a call that never starts.
func (g *Gate) endWithout(ctx context.Context, session string, p plan) error {
	payload, ref := resultPayload(Output{Content: []byte(g.explain(ctx, p))})
	return g.record(ctx, session, events.Draft{
		Session: session, Causation: p.call.EventID, Payloads: []events.Payload{payload},
		Data: &events.ToolResult{
			CallKey: p.call.CallKey, Tool: p.call.Tool, Status: fold.StatusOf(p.over), Cause: p.over, Rule: ruleOf(p.call),
			Result: ref,
		},
	})
}

func ruleOf(c fold.Call) string {
	if c.Request != nil {
		return c.Request.Rule
	}
	return c.Rule
}

// record appends what ends work and waits for the fold. It is tried again
// until the log takes it or has stopped: a result is never dropped while the
// process lives. Where the fold is not back when ctx ends that is no error: the
// record is durable, and what the fold makes of it shows later.
func (g *Gate) record(ctx context.Context, session string, draft events.Draft) error {
	b, err := g.submit(ctx, session, draft)
	if err != nil {
		return err
	}
	defer b.close()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := b.append(ctx)
		if err == nil {
			_, _ = b.judgedAtLast(ctx)
			return nil
		}
		if errors.Is(err, events.ErrLogStopped) || ctx.Err() != nil {
			return err
		}
		g.logger.WarnContext(ctx, "the end of a call, round or run could not be recorded yet; it is tried again", "session", session, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if b.cameBack() {
			return nil // the log had it after all; under its id it takes no second one
		}
	}
}

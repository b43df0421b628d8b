package gate

import (
	"cmp"
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
// ends; not where it can never be recorded (events.ErrUnrecordable).
func (g *Gate) Record(ctx context.Context, draft events.Draft) error {
	return g.record(ctx, draft.Session, draft)
}

// stopGrace is how long what a carry must still record may wait for the log when
// the process stops. On a full disk it would wait for ever.
const stopGrace = 3 * time.Second

var errStopping = errors.New("the process stops, and the log has no room: it was not recorded, and nothing of it was acknowledged")

// lasting returns a context that outlives ctx by stopGrace.
func lasting(ctx context.Context) (context.Context, func()) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	off := context.AfterFunc(ctx, func() {
		late := time.NewTimer(stopGrace)
		defer late.Stop()
		select {
		case <-late.C:
			end(errStopping)
		case <-longer.Done():
		}
	})
	return longer, func() {
		off()
		end(nil)
	}
}

// endWithout records the result of a call that never starts.
func (g *Gate) endWithout(ctx context.Context, session string, p plan) error {
	payload, result := g.unstarted(ctx, p)
	return g.recordResult(ctx, session, p, payload, result)
}

// unstarted is the result of a call that never starts.
func (g *Gate) unstarted(ctx context.Context, p plan) (events.Payload, *events.ToolResult) {
	payload, ref := resultPayload(Output{Content: []byte(cmp.Or(p.said, g.explain(ctx, p)))})
	return payload, &events.ToolResult{
		CallKey: p.call.CallKey, Tool: p.call.Tool, Status: fold.StatusOf(p.over), Cause: p.over, Rule: cmp.Or(p.rule, ruleOf(p.call)), Result: ref,
	}
}

// recordResult records the result of a call. One that can never be recorded as
// it is ends the call all the same, in words that can.
func (g *Gate) recordResult(ctx context.Context, session string, p plan, payload events.Payload, e *events.ToolResult) error {
	e.CallKey, e.Tool = p.call.CallKey, p.call.Tool
	draft := events.Draft{Session: session, Causation: p.call.EventID, Payloads: []events.Payload{payload}, Data: e}
	err := g.record(ctx, session, draft)
	if !errors.Is(err, events.ErrUnrecordable) {
		return err
	}
	g.logger.ErrorContext(ctx, "a result could not be recorded as it is; its call ends without", "session", session, "call", e.String(), "error", err)
	payload, ref := resultPayload(Output{Content: []byte("(The result of this call could not be recorded.)")})
	draft.ID, draft.Payloads = "", []events.Payload{payload}
	draft.Data = &events.ToolResult{
		CallKey: e.CallKey, Tool: e.Tool, Status: e.Status, Cause: e.Cause, Result: ref, Executor: e.Executor,
	}
	return g.record(ctx, session, draft)
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
func (g *Gate) record(ctx context.Context, session string, drafts ...events.Draft) error {
	b, err := g.submit(ctx, session, drafts...)
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
		if errors.Is(err, events.ErrLogStopped) || errors.Is(err, events.ErrUnrecordable) || ctx.Err() != nil {
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

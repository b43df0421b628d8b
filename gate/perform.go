package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
)

var errCancelled = errors.New("the run was cancelled")

// MaxResult bounds what is kept of a result, in bytes: what is beyond is cut,
// visibly, with the size and a commitment of the whole.
const MaxResult = 512 << 10

// perform runs the tool, once, and records the result. The result is recorded
// even where ctx has ended: what ran must be told.
func (g *Gate) perform(ctx, runCtx context.Context, session string, p plan, arguments []byte, run Run) error {
	began := time.Now()
	out := g.guarded(runCtx, run, arguments)
	if errors.Is(context.Cause(runCtx), errCancelled) && out.StoppedBy == "" && out.Failed {
		out.StoppedBy = "cancelled"
	}
	payload, ref := resultPayload(out)
	status := events.StatusOK
	if out.Failed {
		status = events.StatusError
	}
	return g.record(context.WithoutCancel(ctx), session, events.Draft{
		Session: session, Causation: p.call.EventID, Payloads: []events.Payload{payload},
		Data: &events.ToolResult{
			CallKey: p.call.CallKey, Tool: p.call.Tool, Status: status, Cause: causeOf(p), Rule: ruleOf(p.call), Result: ref,
			DurationMS: time.Since(began).Milliseconds(), StoppedBy: clip(out.StoppedBy), Executor: g.executor,
		},
	})
}

// causeOf is why a call ran.
func causeOf(p plan) events.Cause {
	if p.vote != nil {
		return p.vote.Cause
	}
	return events.CausePolicy
}

// guarded keeps a panic of a tool from taking the gate with it.
func (g *Gate) guarded(ctx context.Context, run Run, arguments []byte) (out Output) {
	defer func() {
		if p := recover(); p != nil {
			g.logger.ErrorContext(ctx, "a tool panicked", "panic", fmt.Sprint(p))
			out = Output{Content: []byte("The tool failed with an internal error."), Failed: true}
		}
	}()
	return run(ctx, arguments)
}

// resultPayload keeps a result up to MaxResult.
func resultPayload(out Output) (events.Payload, *events.Ref) {
	media := clip(cmp.Or(out.MediaType, events.MediaText))
	if len(out.Content) <= MaxResult && out.FullBytes <= int64(len(out.Content)) {
		p := events.NewPayload(out.Content)
		return p, p.Ref(media)
	}
	kept := out.Content[:min(len(out.Content), MaxResult)]
	p := events.NewPayload(kept)
	r := p.Ref(media)
	r.TruncatedFrom = wholeOf(p.Salt, out)
	return p, r
}

// wholeOf describes a result of which only a cut is kept.
func wholeOf(salt [32]byte, out Output) *events.Whole {
	if out.FullBytes > int64(len(out.Content)) {
		return events.NewWhole(salt, out.FullBytes, out.FullDigest)
	}
	return events.NewWhole(salt, int64(len(out.Content)), events.DigestOf(out.Content))
}

package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// stop is why a running tool is told to stop: the cause of its context.
type stop struct{ by, why string }

// Error says it to the model.
func (s stop) Error() string { return s.why }

// StoppedBy is the word for it in the result; package internal/exec asks for it.
func (s stop) StoppedBy() string { return s.by }

var (
	errCancelled = stop{"cancelled", "the run was cancelled"}
	errShutdown  = stop{"shutdown", "agentd was stopped while the tool ran"}
)

// stopOf is what the end of a carry's context means for its tool: it ran out of
// time, or the process stops.
func stopOf(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return errShutdown
}

// stoppedBy is the word for what ended a tool early, or "". Why it was told to
// stop is known best here.
func stoppedBy(runCtx context.Context, out Output) string {
	told, ok := errors.AsType[stop](context.Cause(runCtx))
	if ok && out.Failed && (out.StoppedBy == "" || out.StoppedBy == errCancelled.by) {
		return told.by
	}
	return clip(out.StoppedBy)
}

// MaxResult bounds what is kept of a result, in bytes: what is beyond is cut,
// visibly, with the size and a commitment of the whole.
const MaxResult = 512 << 10

// perform runs the tool, once, and records the result. The result is recorded
// even where ctx has ended, as long as the log has room: what ran must be told.
func (g *Gate) perform(ctx, runCtx context.Context, session string, p plan, arguments []byte, run Run) error {
	began, ended := time.Now(), g.metrics.runs(p.call.Tool)
	out := g.guarded(runCtx, g.bound(p, run), arguments)
	ended()
	payload, ref := resultPayload(out)
	status := events.StatusOK
	if out.Failed {
		status = events.StatusError
	}
	last, end := lasting(ctx)
	defer end()
	return g.recordResult(last, session, p, payload, &events.ToolResult{
		Status: status, Cause: causeOf(p, out), Rule: ruleOf(p.call), Result: ref,
		DurationMS: time.Since(began).Milliseconds(), StoppedBy: stoppedBy(runCtx, out), Executor: g.executor,
	})
}

// bound is what runs for a call: where a target was approved, its tool against
// that target and no other.
func (g *Gate) bound(p plan, run Run) Run {
	if p.target == nil {
		return run
	}
	changes := g.tools[p.call.Tool].Changes
	return func(ctx context.Context, arguments []byte) Output { return changes.Change(ctx, arguments, *p.target) }
}

// causeOf is why a call ran, or why it changed nothing.
func causeOf(p plan, out Output) events.Cause {
	if out.Stale && out.Failed && p.target != nil {
		return events.CauseStale
	}
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

package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// startAndRun judges the call again, records the start and, if it counts, runs
// the tool and records what came of it. If the log cannot take the start, the
// tool does not run.
// It reports whether the tool ran.
func (g *Gate) startAndRun(ctx context.Context, session string, p plan, run Run) (ran bool, err error) {
	arguments, o, err := g.arguments(ctx, p)
	switch {
	case err != nil:
		return false, g.refuseStart(ctx, session, p, err)
	case o.cause != "":
		return false, g.endWithout(ctx, session, o.against(p))
	}
	runCtx, release := g.running(ctx, callID{session, p.call.CallKey}, p.call.RunID)
	defer release()
	outcome, err := g.start(ctx, session, p)
	switch {
	case errors.Is(err, ErrNotBack):
		return false, err // it may count: whoever carries the call next will know
	case err != nil:
		return false, g.refuseStart(ctx, session, p, err)
	case !outcome.Counts:
		return false, g.startRefused(ctx, session, p, outcome.Reason)
	}
	return true, g.perform(ctx, runCtx, session, p, arguments, run)
}

// running notes that a call is about to run, so that a cancellation reaches
// it from the moment that its start counts.
func (g *Gate) running(ctx context.Context, id callID, run string) (context.Context, func()) {
	runCtx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	off := context.AfterFunc(ctx, func() { stop(stopOf(ctx)) })
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs[id] = runningCall{run: run, stop: stop}
	if s := g.sessions[id.session]; s != nil && cancelledRun(s.Session, s.Calls[id.key]) {
		stop(errCancelled) // it came before there was anything to stop
	}
	return runCtx, func() {
		off()
		stop(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.runs, id)
	}
}

// start records the start and waits for the fold's word on it, however long
// that takes. That ctx ends must not leave unanswered what stands in the log.
func (g *Gate) start(ctx context.Context, session string, p plan) (fold.Outcome, error) {
	b, err := g.submit(ctx, session, g.startDraft(session, p))
	if err != nil {
		return fold.Outcome{}, err
	}
	defer b.close()
	last, end := lasting(ctx)
	defer end()
	if err := b.append(last); err != nil {
		return fold.Outcome{}, err
	}
	outcomes, err := b.judgedAtLast(ctx)
	if err != nil {
		return fold.Outcome{}, err
	}
	return outcomes[0], nil
}

// prefetchBytes bounds the arguments that are kept in memory while a call
// waits: thousands may.
const prefetchBytes = 4 << 10

// prefetch reads the arguments as they were asked for while nobody has decided
// yet, so that they need not be read between decision and start.
func (g *Gate) prefetch(ctx context.Context, session string, key events.CallKey) map[string][]byte {
	var c fold.Call
	waits := false
	err := g.View(ctx, session, func(s *fold.Session) {
		c = *s.Calls[key]
		waits = c.Request != nil && c.Request.State == fold.Pending
	})
	if err != nil || !waits || c.Arguments.Bytes > prefetchBytes {
		return nil
	}
	text, err := g.log.Payload(ctx, c.EventID, c.Arguments)
	if err != nil {
		return nil // startAndRun reads it again, and says what is wrong
	}
	return map[string][]byte{refOf(c.Arguments): text}
}

func refOf(r *events.Ref) string {
	if r == nil {
		return ""
	}
	return r.Commitment
}

// arguments returns what the tool gets, or what stands against a start with it.
func (g *Gate) arguments(ctx context.Context, p plan) ([]byte, objection, error) {
	text := p.text
	if text == nil {
		var err error
		if text, err = g.log.Payload(ctx, p.carrier, p.ref); err != nil {
			return nil, objection{}, fmt.Errorf("read the arguments: %w", err)
		}
	}
	o := g.objectsTo(&p.call, text)
	if o.cause == "" {
		o = g.standsAt(ctx, p)
	}
	if o.cause != "" || ctx.Err() != nil {
		return nil, o, context.Cause(ctx)
	}
	args, err := events.DecodeArguments(text)
	return args.Text, objection{}, err
}

func (g *Gate) startDraft(session string, p plan) events.Draft {
	return events.Draft{
		Session: session, Causation: startCause(p),
		Data: g.started(p),
	}
}

func (g *Gate) started(p plan) *events.ToolStarted {
	return &events.ToolStarted{
		CallKey: p.call.CallKey, Tool: p.call.Tool, Warrant: p.warrant, RequestDigest: p.digest, Arguments: p.ref,
		Executor: g.executor, Enforcement: events.Enforced, Isolation: g.isolation(p.call.Tool),
	}
}

func startCause(p plan) string {
	if p.warrant.Kind == events.WarrantDecision {
		return p.warrant.Decision
	}
	return p.call.EventID
}

func (g *Gate) isolation(tool string) string {
	if t := g.tools[tool]; t != nil && t.Isolation != "" {
		return t.Isolation
	}
	return "none"
}

// refuseStart ends a call whose start could not be recorded: no audit, no
// action. A ctx that ended leaves the call to whoever carries it next.
func (g *Gate) refuseStart(ctx context.Context, session string, p plan, cause error) error {
	if ctx.Err() != nil || errors.Is(cause, events.ErrLogStopped) {
		return cause
	}
	g.logger.WarnContext(ctx, "a tool was not run because its start could not be recorded", "tool", p.call.Tool, "error", cause)
	p.over = events.CauseGateError
	return g.endWithout(ctx, session, p)
}

// startRefused turns the fold's word on a start into a result, where it is
// final; otherwise the call is looked at again.
func (g *Gate) startRefused(ctx context.Context, session string, p plan, reason fold.Reason) error {
	switch reason {
	case fold.ReasonStarted, fold.ReasonEnded:
		return nil
	case fold.ReasonTooLate:
		p.over = events.CauseTimeout
		p.vote = nil
	case fold.ReasonNoWarrant, fold.ReasonOtherDigest:
		if moved, err := g.moved(ctx, session, p); err != nil || moved {
			return err
		}
		p.over = events.CauseGateError
	default:
		p.over = events.CauseGateError
	}
	return g.endWithout(ctx, session, p)
}

// moved reports whether the call's warrant is another one now than planned:
// revoked, cancelled, or decided otherwise.
func (g *Gate) moved(ctx context.Context, session string, p plan) (bool, error) {
	now, err := g.settle(ctx, context.Background(), session, p.call.CallKey, false)
	return now.ended || now.over != "" || now.digest != p.digest || now.warrant != p.warrant, err
}

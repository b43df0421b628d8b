package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Errors of Carry.
var (
	// ErrUnknownCall: the session has no such call.
	ErrUnknownCall = errors.New("unknown call")
	// ErrCarried: another Carry of this process has the call in hand.
	ErrCarried = errors.New("the call is being carried already")

	errCancelled = errors.New("the run was cancelled")
)

// MaxResult bounds what is kept of a result, in bytes: what is beyond is cut,
// visibly, with the size and a commitment of the whole.
const MaxResult = 512 << 10

// Run runs a tool once. It is called after the start has come back and counts,
// and never again for the same call. A context that ends means: stop now.
type Run func(ctx context.Context, arguments []byte) Output

// Output is what a tool produced.
type Output struct {
	Content   []byte
	MediaType string // "" is text/plain
	// FullBytes and FullDigest describe the whole where Content is a cut.
	FullBytes  int64
	FullDigest events.Digest
	Failed     bool
	StoppedBy  string // "timeout", "cancelled", "output-limit", or ""
}

// plan is what comes next for a call.
type plan struct {
	ended   bool
	over    events.Cause // set: it ends without a start, for this cause
	vote    *fold.Vote   // of the decision that ended it, where a person did
	warrant events.Warrant
	digest  events.Digest
	ref     *events.Ref // arguments, with "in" set
	carrier string
	text    []byte // the arguments, where they were read before
	call    fold.Call
	run     string
}

// Carry carries a proposed call to its result and returns when that is
// recorded: it waits for the decision, records the start, sees it count, runs
// the tool, records the result. Whatever happens before the start, the call
// gets a result that says so. ctx bounds the carrying, not the call: when it
// ends before the start, the call stays as it is and another Carry may go on.
func (g *Gate) Carry(ctx context.Context, session string, key events.CallKey, run Run) error {
	release, err := g.take(ctx, callID{session, key})
	if err != nil {
		return err
	}
	defer release()
	texts := g.prefetch(ctx, session, key)
	for {
		p, err := g.settle(ctx, session, key)
		switch {
		case err != nil:
			return err
		case p.ended:
			return nil
		case p.over != "":
			err = g.endWithout(ctx, session, p)
		default:
			p.text = texts[refOf(p.ref)]
			err = g.startAndRun(ctx, session, p, run)
		}
		if err != nil {
			return err
		}
	}
}

// take keeps two carries of one call apart, and the session loaded.
func (g *Gate) take(ctx context.Context, id callID) (release func(), err error) {
	s, unpin, err := g.pin(ctx, id.session)
	if err != nil {
		return nil, err
	}
	if err := g.hold(s, id); err != nil {
		unpin()
		return nil, err
	}
	return func() {
		g.mu.Lock()
		delete(g.carrying, id)
		g.mu.Unlock()
		unpin()
	}, nil
}

func (g *Gate) hold(s *session, id callID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, twice := g.carrying[id]; twice {
		return fmt.Errorf("%w: %s", ErrCarried, id.key)
	}
	if s.Calls[id.key] == nil {
		return fmt.Errorf("%w: %s", ErrUnknownCall, id.key)
	}
	g.carrying[id] = struct{}{}
	return nil
}

// settle waits until it is known what comes next for a call.
func (g *Gate) settle(ctx context.Context, session string, key events.CallKey) (plan, error) {
	var p plan
	err := g.Watch(ctx, session, func(s *fold.Session) bool {
		var known bool
		p, known = g.next(s, s.Calls[key])
		return known
	})
	return p, err
}

// next says what comes next for a call, and whether that is known yet.
func (g *Gate) next(s *fold.Session, c *fold.Call) (plan, bool) {
	p := plan{call: *c, run: c.RunID}
	switch {
	case c.Result != nil:
		p.ended = true
		return p, true
	case c.Start != nil:
		return p, false // somebody runs it; its result will come
	case c.Request != nil && c.Request.State != fold.Approved:
		return decidedPlan(p, c.Request)
	case cancelledRun(s, c):
		p.over = causeOfCancel(s)
		return p, true
	case c.Request != nil:
		return decidedPlan(p, c.Request)
	case c.Effect == events.EffectAllow:
		p.warrant = events.Warrant{Kind: events.WarrantRule, Rule: c.Rule, PolicyDigest: c.PolicyDigest}
		p.digest, p.ref, p.carrier = c.Digest, c.Arguments.CarriedBy(c.EventID), c.EventID
		return p, true
	case c.Effect == events.EffectDeny:
		p.over = events.CausePolicy
		return p, true
	}
	// A call that must ask, without a request: the commit held both, so only
	// another producer's log can look so. It does not run.
	p.over = events.CauseGateError
	return p, true
}

func cancelledRun(s *fold.Session, c *fold.Call) bool {
	if c.RunID == "" {
		return false
	}
	run := s.Run()
	return run == nil || run.ID != c.RunID || run.Cancelled != nil
}

func causeOfCancel(s *fold.Session) events.Cause {
	if run := s.Run(); run != nil && run.Cancelled != nil {
		return run.Cancelled.Cause
	}
	return events.CauseCancelled
}

func decidedPlan(p plan, q *fold.Request) (plan, bool) {
	switch {
	case q.State == fold.Approved && q.Revoked:
		p.over = events.CauseCancelled
	case q.State == fold.Approved:
		p.warrant = events.Warrant{Kind: events.WarrantDecision, Decision: q.End.EventID}
		p.digest, p.ref, p.carrier = q.Digest, carried(q), q.Carrier
	case q.State == fold.Declined:
		p.over, p.vote = q.End.Cause, q.End
	default:
		return p, false
	}
	return p, true
}

// endWithout records the result of a call that never starts.
func (g *Gate) endWithout(ctx context.Context, session string, p plan) error {
	text := []byte(g.explain(ctx, p))
	payload := events.NewPayload(text)
	return g.record(ctx, session, events.Draft{
		Session: session, Causation: p.call.EventID, Payloads: []events.Payload{payload},
		Data: &events.ToolResult{
			CallKey: p.call.CallKey, Tool: p.call.Tool, Status: fold.StatusOf(p.over), Cause: p.over, Rule: ruleOf(p.call),
			Result: payload.Ref(events.MediaText),
		},
	})
}

func ruleOf(c fold.Call) string {
	if c.Request != nil {
		return c.Request.Rule
	}
	return c.Rule
}

// startAndRun records the start and, if it counts, runs the tool and records
// what came of it. If the log cannot take the start, the tool does not run.
func (g *Gate) startAndRun(ctx context.Context, session string, p plan, run Run) error {
	arguments, err := g.arguments(ctx, p)
	if err != nil {
		return g.refuseStart(ctx, session, p, err)
	}
	id := callID{session, p.call.CallKey}
	runCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	g.mu.Lock()
	g.running[id] = runningCall{run: p.run, stop: stop}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.running, id)
		g.mu.Unlock()
	}()
	// From here the start may stand in the log: that ctx ends must not leave it
	// unanswered.
	outcomes, err := g.append(context.WithoutCancel(ctx), session, g.startDraft(session, p))
	switch {
	case errors.Is(err, ErrNotBack):
		// It is in the log, and may count there: whether it does must be known
		// before anything is done.
		return g.afterUnknownStart(ctx, session, p, runCtx, arguments, run)
	case err != nil:
		return g.refuseStart(ctx, session, p, err)
	case !outcomes[0].Counts:
		return g.startRefused(ctx, session, p, outcomes[0].Reason)
	}
	return g.perform(ctx, runCtx, session, p, arguments, run)
}

// afterUnknownStart waits for the fold's word on a start, however long it
// takes.
func (g *Gate) afterUnknownStart(ctx context.Context, session string, p plan, runCtx context.Context, arguments []byte, run Run) error { //nolint:revive // two contexts: the carrying, and the run
	var mine bool
	err := g.Watch(ctx, session, func(s *fold.Session) bool {
		c := s.Calls[p.call.CallKey]
		mine = c.Start != nil && c.Start.Executor == g.executor
		return c.Start != nil || c.Result != nil
	})
	if err != nil || !mine {
		return err
	}
	return g.perform(ctx, runCtx, session, p, arguments, run)
}

// prefetch reads the arguments as they were asked for while nobody has decided
// yet, so that they need not be read between decision and start.
func (g *Gate) prefetch(ctx context.Context, session string, key events.CallKey) map[string][]byte {
	var c fold.Call
	if err := g.View(ctx, session, func(s *fold.Session) { c = *s.Calls[key] }); err != nil {
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

func (g *Gate) arguments(ctx context.Context, p plan) ([]byte, error) {
	text := p.text
	if text == nil {
		var err error
		if text, err = g.log.Payload(ctx, p.carrier, p.ref); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
	}
	args, err := events.DecodeArguments(text)
	if err != nil {
		return nil, err
	}
	return args.Text, nil
}

func (g *Gate) startDraft(session string, p plan) events.Draft {
	return events.Draft{
		Session: session, Causation: startCause(p),
		Data: &events.ToolStarted{
			CallKey: p.call.CallKey, Tool: p.call.Tool, Warrant: p.warrant, RequestDigest: p.digest, Arguments: p.ref,
			Executor: g.executor, Enforcement: events.Enforced, Isolation: g.isolation(p.call.Tool),
		},
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
	now, err := g.settle(ctx, session, p.call.CallKey)
	return now.ended || now.over != "" || now.digest != p.digest || now.warrant != p.warrant, err
}

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
			DurationMS: time.Since(began).Milliseconds(), StoppedBy: out.StoppedBy, Executor: g.executor,
		},
	})
}

// causeOf is why a call ran.
func causeOf(p plan) events.Cause {
	if p.warrant.Kind == events.WarrantDecision {
		return events.CauseHuman
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
	media := out.MediaType
	if media == "" {
		media = events.MediaText
	}
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

// record appends what ends work and waits for the fold. It is tried again
// until the log takes it or has stopped: a result is never dropped while the
// process lives.
func (g *Gate) record(ctx context.Context, session string, draft events.Draft) error {
	draft.ID = events.NewID() // the same for every try: appending is idempotent by id
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		_, err := g.append(ctx, session, draft)
		if err == nil || errors.Is(err, ErrNotBack) {
			return nil // durable; what the fold makes of it shows when it comes back
		}
		if errors.Is(err, events.ErrLogStopped) || ctx.Err() != nil {
			return err
		}
		g.logger.WarnContext(ctx, "a result could not be recorded yet; it is tried again", "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

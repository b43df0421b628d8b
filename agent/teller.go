package agent

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// teller makes notes for the audience from the records of one run that count.
// It belongs to the goroutine of the run, like the narrator that feeds it.
type teller struct {
	audience *audience
	run      string
	resumed  bool // the run was begun by an earlier process

	batch string // the turn under way
	open  bool   // not all of its calls are on record yet
	held  []note // what has followed from some of them already
}

// teller returns what tells the audience of a run; nil where nobody listens.
func (l *Loop) teller(run string) *teller {
	if l.audience == nil {
		return nil
	}
	t := &teller{audience: l.audience, run: run, resumed: true}
	select {
	case <-l.ready:
		t.resumed = false // what was unfinished has been taken up before
	default:
	}
	return t
}

// hear notes what follows from a record that counts. history says that the log
// held it when the run was taken up.
func (t *teller) hear(ctx context.Context, s *fold.Session, r fold.Record, history bool) {
	o := Origin{Session: s.ID, Run: t.run, Again: history && t.resumed}
	switch e := r.Event.(type) { //nolint:gochecksumtype // of the others nobody is told
	case *events.RoundFinished:
		if e.RunID == t.run {
			t.round(ctx, s, e, o)
		}
	case *events.ToolCall:
		if e.RunID == t.run && e.BatchID == t.batch {
			t.call(ctx, s, o)
		}
	case *events.ToolStarted:
		t.execution(ctx, s, e.CallKey, o)
	case *events.ToolResult:
		t.execution(ctx, s, e.CallKey, o)
	}
}

func (t *teller) round(ctx context.Context, s *fold.Session, e *events.RoundFinished, o Origin) {
	o.Agent = e.Agent.Path
	r := ObservedRound{
		Origin: o, Model: s.Run().Model, Round: e.Round, Attempt: e.Attempt, Outcome: e.Outcome, Code: e.Code, Calls: e.Calls,
		Usage: Usage{e.Usage.Prompt, e.Usage.Completion, e.Usage.Total},
	}
	t.audience.tell(ctx, roundNote(r, RoundObserver.RoundCompleted))
	if e.Outcome == events.RoundCalls {
		t.batch, t.open, t.held = e.BatchID, true, nil
	}
}

func roundNote(r ObservedRound, tell func(RoundObserver, context.Context, ObservedRound) error) note {
	return func(ctx context.Context, l *Listener) error {
		if l.Rounds == nil {
			return nil
		}
		return tell(l.Rounds, ctx, r)
	}
}

// call notes the batch with its last call, and then what has followed already.
func (t *teller) call(ctx context.Context, s *fold.Session, o Origin) {
	calls := t.turn(s)
	if !t.open || slices.Contains(calls, nil) {
		return
	}
	for _, c := range calls { // copies: some have ended in the same commit
		c.Start, c.Result = nil, nil
	}
	t.open = false
	t.audience.tell(ctx, t.batchNote(calls, o, ToolCallListener.BeforeBatch))
	for _, n := range t.held {
		t.audience.tell(ctx, n)
	}
	t.held = nil
}

// turn copies the calls of the turn under way.
func (t *teller) turn(s *fold.Session) []*fold.Call {
	for _, run := range slices.Backward(s.Runs) {
		for _, r := range slices.Backward(run.Rounds) {
			if run.ID == t.run && r.BatchID == t.batch {
				return copies(s.Turn(r))
			}
		}
	}
	return nil
}

// execution notes the start or the result of a call, and with the last result
// of a turn the end of the batch.
func (t *teller) execution(ctx context.Context, s *fold.Session, key events.CallKey, o Origin) {
	if s.Calls[key].RunID != t.run {
		return
	}
	c := copies([]*fold.Call{s.Calls[key]})[0]
	n := t.executionNote(c, o)
	if t.open {
		t.held = append(t.held, n)
		return
	}
	t.audience.tell(ctx, n)
	if calls := t.turn(s); c.Result != nil && key.BatchID == t.batch && !slices.ContainsFunc(calls, (*fold.Call).Open) {
		t.audience.tell(ctx, t.batchNote(calls, o, ToolCallListener.AfterBatch))
	}
}

func (t *teller) batchNote(calls []*fold.Call, o Origin, tell func(ToolCallListener, context.Context, Batch) error) note {
	o.Agent = calls[0].Agent.Path
	loop := t.audience.loop
	return func(ctx context.Context, l *Listener) error {
		if l.ToolCalls == nil {
			return nil
		}
		b := Batch{Origin: o, ID: calls[0].BatchID}
		for _, c := range calls {
			b.Calls = append(b.Calls, loop.observed(ctx, c, o))
		}
		return tell(l.ToolCalls, ctx, b)
	}
}

func (t *teller) executionNote(c *fold.Call, o Origin) note {
	o.Agent = c.Agent.Path
	tell := ToolExecutionListener.Failed
	switch {
	case c.Result == nil:
		tell = ToolExecutionListener.Started
	case c.Result.Status == events.StatusOK:
		tell = ToolExecutionListener.Succeeded
	}
	loop := t.audience.loop
	return func(ctx context.Context, l *Listener) error {
		if l.Executions == nil {
			return nil
		}
		return tell(l.Executions, ctx, loop.observed(ctx, c, o))
	}
}

// observed reads what a listener is told of a call.
func (l *Loop) observed(ctx context.Context, c *fold.Call, o Origin) ObservedCall {
	out := ObservedCall{Origin: o, Key: c.CallKey, ID: c.CallID, Name: c.Tool, Source: c.ToolSource, Arguments: l.argumentsOf(ctx, c)}
	if c.Result != nil {
		out.Result, out.Status, out.Cause = l.resultText(ctx, c), c.Result.Status, c.Result.Cause
	}
	return out
}

// argumentsOf reads the arguments that run, or would.
func (l *Loop) argumentsOf(ctx context.Context, c *fold.Call) string {
	carrier, ref := c.EventID, c.Arguments
	if c.Request != nil {
		carrier, ref = c.Request.Carrier, c.Request.Arguments
	}
	b, err := l.opt.Log.Payload(ctx, carrier, ref)
	if err != nil {
		l.logger.WarnContext(ctx, "arguments could not be read for a listener", "call", c.String(), "error", err)
		return "(this text is no longer kept)"
	}
	return shown(b)
}

// roundStarts notes that the model is about to be asked.
func (d *driver) roundStarts(ctx context.Context, st state) {
	t := d.narrator.teller
	if t == nil {
		return
	}
	round, attempt := st.run.Next()
	t.audience.tell(ctx, roundNote(ObservedRound{
		Origin: Origin{Session: d.session, Run: d.run, Agent: mainAgent().Path}, Model: st.run.Model, Round: round, Attempt: attempt,
	}, RoundObserver.RoundStarted))
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// errCancelledRun ends the model's stream when the run was cancelled.
var errCancelledRun = errors.New("the run was cancelled")

// ask runs one model round and records what came of it; the calls that it
// asks for are proposed in the same commit.
func (d *driver) ask(ctx context.Context, st state) error {
	m, err := d.loop.model(st.run.Model)
	if err != nil {
		return d.fail(ctx, st, "", Turn{}, &TurnError{Code: CodeInvalidStream, Message: err.Error()})
	}
	req, err := d.request(ctx, m, st)
	if err != nil {
		return d.fail(ctx, st, m.Dialect(), Turn{}, &TurnError{Code: CodeInvalidStream, Message: err.Error()})
	}
	d.startOver(st)
	d.roundStarts(ctx, st)
	turn, err := d.stream(ctx, m, req)
	d.loop.metrics.used(m.Name(), turn.Usage)
	var broken *TurnError
	switch {
	case errors.Is(err, errCancelledRun):
		return nil
	case errors.As(err, &broken):
		return d.fail(ctx, st, m.Dialect(), turn, broken)
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return d.fail(ctx, st, m.Dialect(), turn, &TurnError{Code: CodeInvalidStream, Message: err.Error()})
	}
	return d.recordTurn(ctx, st, m, turn)
}

// startOver tells clients to drop what an attempt at this round has shown.
func (d *driver) startOver(st state) {
	if d.narrator.streamed || st.last != nil && st.last.Outcome == events.RoundFailed {
		d.narrator.feed.piece(EventReset, "")
	}
	d.narrator.streamed = false
}

// request rebuilds what the model is asked from the record.
func (d *driver) request(ctx context.Context, m Model, st state) (Request, error) {
	var sc script
	if err := d.loop.gate.View(ctx, d.session, func(s *fold.Session) { sc = scriptOf(s) }); err != nil {
		return Request{}, err
	}
	messages, err := d.loop.messages(ctx, m, sc)
	if err != nil {
		return Request{}, err
	}
	system := d.loop.opt.System
	if st.run.Prompt != nil {
		b, err := d.loop.opt.Log.Payload(ctx, st.run.EventID, st.run.Prompt)
		if err != nil {
			return Request{}, fmt.Errorf("read the run's prompt: %w", err)
		}
		system = string(b)
	}
	return Request{System: system, Messages: messages, Tools: d.loop.definitions()}, nil
}

// stream asks the model, and stops it when the run is cancelled or it says more
// than can be recorded.
func (d *driver) stream(ctx context.Context, m Model, req Request) (Turn, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d.carries.Go(func() {
		err := d.loop.gate.Watch(ctx, d.session, func(s *fold.Session) bool {
			run := s.Run()
			return run == nil || run.ID != d.run || run.Cancelled != nil
		})
		if err == nil {
			stop(errCancelledRun)
		}
	})
	turn, err := m.Stream(ctx, req, d.sink(stop))
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTooMuch):
		return turn, tooMuch()
	case err != nil && errors.Is(cause, errCancelledRun):
		err = errCancelledRun
	}
	return turn, err
}

// sink shows what a model says as it comes, up to what can be recorded.
func (d *driver) sink(stop context.CancelCauseFunc) func(Delta) {
	said := 0
	return func(delta Delta) {
		if said += len(delta.Reasoning) + len(delta.Text); said > maxMessage {
			stop(errTooMuch)
			return
		}
		d.narrator.streamed = true
		d.narrator.say(EventReasoning, delta.Reasoning)
		d.narrator.say(EventToken, delta.Text)
	}
}

func (d *driver) recordTurn(ctx context.Context, st state, m Model, turn Turn) error {
	if why := beyond(turn); why != "" {
		return d.fail(ctx, st, m.Dialect(), turn, &TurnError{Code: CodeLimit, Message: why})
	}
	round, e := d.roundDraft(st, m.Dialect(), turn)
	e.Outcome, e.Calls = events.RoundText, len(turn.Calls)
	if len(turn.Calls) > 0 {
		e.Outcome = events.RoundCalls
	}
	ids, repairs := repair(turn.Calls)
	e.Repairs = repairs
	var err error
	if p := d.proposal(st, e.BatchID, round.ID, turn.Calls, ids); len(p.Calls) > 0 {
		p.Before = []events.Draft{round}
		err = d.loop.gate.Propose(ctx, p)
	} else {
		err = d.loop.gate.Record(ctx, round) // it ends work, and waits for room
	}
	switch {
	case errors.Is(err, gate.ErrNotBack):
		return d.await(ctx, e.BatchID)
	case gate.Refused(err):
		return d.fail(ctx, st, m.Dialect(), turn, notTaken(CodeLogRefused, "the audit log takes no new work now", err))
	case errors.Is(err, events.ErrUnrecordable):
		return d.fail(ctx, st, m.Dialect(), turn, notTaken(CodeLimit, "this turn cannot be recorded", err))
	case err != nil:
		return err
	}
	return d.carryTurn(ctx)
}

// carryTurn puts the calls of a new turn in hand: what started with the turn
// must get its result also where the process is about to stop.
func (d *driver) carryTurn(ctx context.Context) error {
	last := context.WithoutCancel(ctx)
	st, err := d.look(last)
	if err == nil && slices.ContainsFunc(st.open, asks) {
		err = d.narrator.catchUp(last)
	}
	if err == nil {
		d.carrySettled(ctx, st)
	}
	return err
}

// asks reports whether somebody must be told of a call before any call of its
// turn runs.
func asks(c *fold.Call) bool { return c.Request != nil }

// await waits for a round that is in the log and has not come back: to ask
// again before it has would be to ask twice.
func (d *driver) await(ctx context.Context, batch string) error {
	return d.loop.gate.Watch(ctx, d.session, func(s *fold.Session) bool {
		run := s.Run()
		return run == nil || run.ID != d.run || run.Last() != nil && run.Last().BatchID == batch
	})
}

// roundDraft drafts the record of a round, with its message.
func (d *driver) roundDraft(st state, dialect string, turn Turn) (events.Draft, *events.RoundFinished) {
	round, attempt := st.run.Next()
	e := &events.RoundFinished{
		RunID: d.run, BatchID: events.NewID(), Round: round, Attempt: attempt, Agent: mainAgent(), Dialect: dialect,
		FinishReason: clipped(turn.Finish), Usage: turn.Usage.recorded(),
	}
	draft := events.Draft{ID: events.NewID(), Session: d.session, Data: e, Causation: st.run.EventID}
	if len(turn.Message) > 0 {
		p := events.NewPayload(turn.Message)
		e.Message = p.Ref(events.MediaJSON)
		draft.Payloads = append(draft.Payloads, p)
	}
	return draft, e
}

// repair finds what replaying a turn's message needs: an id for a call that
// has none, or that repeats one of the turn; {} for empty arguments.
func repair(calls []Call) (ids []string, repairs []events.Repair) {
	seen := map[string]bool{}
	ids = make([]string, len(calls))
	for i, c := range calls {
		ids[i] = c.ID
		if c.ID == "" || seen[c.ID] || len(c.ID) > events.MaxNameBytes {
			ids[i] = "call_" + strings.ReplaceAll(events.NewRequestID(), "-", "")
			repairs = append(repairs, events.Repair{Index: i, What: events.RepairID, Now: ids[i]})
		}
		seen[ids[i]] = true
		if t := strings.TrimSpace(c.Arguments); t == "" || t == "null" {
			repairs = append(repairs, events.Repair{Index: i, What: events.RepairArguments, Now: "{}"})
		}
	}
	return ids, repairs
}

func (d *driver) proposal(st state, batch, cause string, calls []Call, ids []string) gate.Proposal {
	p := gate.Proposal{
		Session: d.session, RunID: d.run, BatchID: batch, Agent: mainAgent(), Model: st.run.Model, Principal: st.run.Principal, Causation: cause,
		Handlers: d.loop.opt.Approvals != nil,
	}
	if limit := d.loop.opt.MaxToolCalls; st.run.Calls+len(calls) > limit {
		p.Refuse = &gate.Refusal{Rule: "max-tool-calls", Why: fmt.Sprintf("The run may make %d tool calls and would pass that; the tool was not run.", limit)}
	}
	for i, c := range calls {
		p.Calls = append(p.Calls, gate.ProposedCall{
			Index: i, CallID: ids[i], Tool: c.Name, Arguments: []byte(c.Arguments), AtOnce: readOnly(d.loop.tools[c.Name]),
		})
	}
	return p
}

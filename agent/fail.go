package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/events"
)

// What can be recorded of one turn, so that its events fit every bus: a message
// of this many bytes beside the detail of a failure, and this many calls, each
// with the repairs that it may need in the round's own envelope.
const (
	maxDetail    = 32 << 10
	maxMessage   = events.MaxEventBytes - events.MaxEnvelopeBytes - maxDetail
	maxTurnCalls = 256
)

// errTooMuch ends the model's stream when it has said more than can be recorded.
var errTooMuch = errors.New("the model said more than can be recorded")

// beyond says what of a turn is beyond those bounds, or "".
func beyond(turn Turn) string {
	switch n, calls := len(turn.Message), len(turn.Calls); {
	case n > maxMessage:
		return fmt.Sprintf("the model's message has %d bytes; at most %d can be recorded, so nothing of it runs", n, maxMessage)
	case calls > maxTurnCalls:
		return fmt.Sprintf("the model asked for %d tool calls in one turn; at most %d can be recorded, so none of them runs", calls, maxTurnCalls)
	}
	return ""
}

// tooMuch is the failure of a turn whose text was cut off by errTooMuch.
func tooMuch() *TurnError {
	return &TurnError{Code: CodeLimit, Message: fmt.Sprintf("the model said more than the %d bytes that can be recorded, so it was stopped and nothing of the turn runs", maxMessage)}
}

// notTaken is the failure of a turn that the log did not take.
func notTaken(code, why string, err error) *TurnError {
	return &TurnError{Code: code, Message: why + ", so nothing of it runs: " + err.Error()}
}

// fail records a round that the provider cut, broke or refused: none of its
// calls start. What had arrived is kept, to the byte, where it fits.
func (d *driver) fail(ctx context.Context, st state, dialect string, turn Turn, broken *TurnError) error {
	if len(turn.Message) == 0 && (turn.Text != "" || turn.Reasoning != "" || len(turn.Calls) > 0) {
		if partial, err := json.Marshal(turn); err == nil {
			turn.Message = partial
		}
	}
	if len(turn.Message) > maxMessage {
		turn.Message = nil
	}
	if dialect == "" {
		dialect = "none"
	}
	round, e := d.roundDraft(st, dialect, turn)
	e.Outcome, e.Code = events.RoundFailed, clipped(broken.Code)
	detail := events.NewPayload([]byte(broken.Message[:min(len(broken.Message), maxDetail)]))
	e.Detail = detail.Ref(events.MediaText)
	round.Payloads = append(round.Payloads, detail)
	if broken.Retryable {
		d.again = e.BatchID
	}
	d.loop.logger.WarnContext(ctx, "a model round failed", "session", d.session, "code", broken.Code)
	return d.loop.gate.Record(ctx, round)
}

// lost ends a run whose last round stands in the log without all of its calls.
// They share a commit, so only a log that somebody else wrote can be so.
func (d *driver) lost(ctx context.Context, st state) error {
	return d.failRun(ctx, st, CodeLost, fmt.Sprintf("round %d asked for %d calls, %d of them are not in the log: nothing more of it runs",
		st.last.Round, st.last.Calls, st.missing))
}

// giveUp ends a run whose next event can never be recorded: it would be tried
// for ever. What ends it says as little as an end can.
func (d *driver) giveUp(ctx context.Context, cause error) error {
	d.loop.logger.ErrorContext(ctx, "a run ends because what comes next in it cannot be recorded", "session", d.session, "error", cause)
	st, err := d.look(ctx)
	if err != nil || st.finished {
		return err
	}
	st.run.Rounds = nil // nor what they counted
	return d.failRun(ctx, st, CodeLimit, "what comes next cannot be recorded, so the run ends here: "+clipped(cause.Error()))
}

// failRun ends a run for a reason that no round gives.
func (d *driver) failRun(ctx context.Context, st state, code, text string) error {
	p := events.NewPayload([]byte(text))
	e := d.finished(st, events.FinishError)
	e.Code, e.Detail = code, p.Ref(events.MediaText)
	return d.loop.gate.Record(ctx, events.Draft{Session: d.session, Data: e, Payloads: []events.Payload{p}, Causation: st.run.EventID})
}

// clipped shortens what a provider said to what a name may have.
func clipped(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for len(s) > events.MaxNameBytes {
		s = s[:len(s)-1]
	}
	return strings.ToValidUTF8(s, "")
}

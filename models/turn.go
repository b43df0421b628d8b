package models

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

const (
	maxTurnBytes = 32 << 20 // of a line, an event's data, and a turn's text
	maxCalls     = 1000
)

// turnReader makes one turn of one event stream.
type turnReader struct {
	sink func(agent.Delta)

	text      strings.Builder
	reasoning strings.Builder
	// The halves of characters that still wait, for each text.
	textPieces, reasoningPieces textPieces
	thinking                    thinkingForm // the first that reasoning came in

	calls  callSet
	finish string
	usage  agent.Usage
	bytes  int  // of text, reasoning, ids, names and arguments
	events int  // with data
	done   bool // [DONE] came
}

func newTurnReader(sink func(agent.Delta)) *turnReader {
	return &turnReader{sink: sink}
}

// read reads r to its end and returns the turn. With an error it returns what
// had arrived.
func (t *turnReader) read(r io.Reader) (agent.Turn, error) {
	events := newEventReader(r, maxTurnBytes)
	var err error
	for err == nil && !t.done {
		var e event
		if e, err = events.next(); err == nil {
			err = t.take(e)
		}
	}
	if err == nil || err == io.EOF { //nolint:errorlint // a wrapped EOF is a lost connection
		err = t.end()
	}
	t.flush()
	return t.turn(), err
}

// take takes in one event.
func (t *turnReader) take(e event) error {
	data := bytes.TrimSpace(e.data)
	switch {
	case e.kind == "error":
		t.events++
		return providerFailure(eventError(e.data))
	case len(data) == 0:
		return nil // servers keep the line open with these
	case string(data) == "[DONE]":
		t.events++
		t.done = true
		return nil
	}
	t.events++
	c, err := parseChunk(e.data)
	if err != nil {
		return err
	}
	if failure := c.failure(e.data); failure != nil {
		return failure
	}
	t.count(c.Usage)
	first, ok, err := c.first()
	if err != nil || !ok {
		return err
	}
	return t.choice(first)
}

func (t *turnReader) choice(c choice) error {
	if err := t.delta(c.Delta); err != nil {
		return err
	}
	finish, err := word("finish_reason", c.FinishReason)
	if err != nil {
		return err
	}
	// The first word counts: proxies add a second of their own. But a turn that
	// anybody says was cut is cut.
	if t.finish == "" || finish != "" && finishOf(finish) >= finishCut && finishOf(t.finish) < finishCut {
		t.finish = finish
	}
	if t.bytes > maxTurnBytes || len(t.calls.calls) > maxCalls {
		return &agent.TurnError{
			Code:    agent.CodeLimit,
			Message: "the turn is larger than " + strconv.Itoa(maxTurnBytes) + " bytes or " + strconv.Itoa(maxCalls) + " tool calls",
		}
	}
	return nil
}

func (t *turnReader) delta(d delta) error {
	if err := t.reason(d); err != nil {
		return err
	}
	for _, v := range []jsontext.Value{d.Content, d.Refusal} {
		if err := t.content(v); err != nil {
			return err
		}
	}
	for _, raw := range d.ToolCalls {
		grown, err := t.calls.add(raw)
		if err != nil {
			return err
		}
		t.bytes += grown
	}
	return nil
}

// end judges a stream that ended without a failure.
func (t *turnReader) end() error {
	calls := len(t.calls.calls)
	if t.finish == "" && (!t.done || calls > 0) {
		return &agent.TurnError{
			Code:      agent.CodeUnexpectedEOF,
			Message:   "the provider's stream ended before the turn had a finish reason",
			Retryable: true,
		}
	}
	if err := judgeFinish(t.finish, calls, t.text.Len() > 0); err != nil {
		return err
	}
	return t.calls.check()
}

// turn returns the turn as far as it has come.
func (t *turnReader) turn() agent.Turn {
	m := message{text: t.text.String(), reasoning: t.reasoning.String(), thinking: t.thinking}
	turn := agent.Turn{
		Text: m.text, Reasoning: m.reasoning,
		Finish: t.finish, Usage: t.usage,
	}
	for _, call := range t.calls.ordered() {
		turn.Calls = append(turn.Calls, call.call())
		m.calls = append(m.calls, messageCall{Call: call.call(), extra: call.extra})
	}
	turn.Message = m.encode()
	if turn.Usage.TotalTokens == 0 {
		turn.Usage.TotalTokens = turn.Usage.PromptTokens + turn.Usage.CompletionTokens
	}
	return turn
}

// streamFailure names an error of reading the stream.
func streamFailure(err error) error {
	var turn *agent.TurnError
	switch {
	case err == nil || errors.As(err, &turn):
		return err
	case errors.Is(err, errTooLong):
		return &agent.TurnError{Code: agent.CodeLimit, Message: "the provider's stream: " + err.Error()}
	}
	return &agent.TurnError{
		Code:      agent.CodeUnexpectedEOF,
		Message:   "the connection to the provider was lost: " + err.Error(),
		Retryable: true,
	}
}

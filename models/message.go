package models

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

// ErrMessage is in the chain of the error of a message that cannot be repaired.
var ErrMessage = errors.New("not an assistant message of dialect openai-chat")

// dialect names the form of the messages of this package.
const dialect = "openai-chat"

// message is an assistant message before it is encoded.
type message struct {
	text      string
	reasoning string // "" is left out
	thinking  thinkingForm
	calls     []messageCall
}

// thinkingForm is how a server sends reasoning, and so how it wants it back:
// the member's name, or thinkingParts.
type thinkingForm string

const (
	thinkingContent   thinkingForm = "reasoning_content"
	thinkingReasoning thinkingForm = "reasoning"
	thinkingParts     thinkingForm = "content" // parts of the content
)

type messageCall struct {
	agent.Call

	extra jsontext.Value // extra_content, or nothing
}

// encode returns the message as JSON, with members in a fixed order. A message
// with calls and without text has the content null, as the protocol wants.
func (m message) encode() stdjson.RawMessage {
	b := m.content([]byte(`{"role":"assistant","content":`))
	if m.reasoning != "" && m.thinking != thinkingParts {
		b = quote(append(b, ','), string(m.thinking))
		b = quote(append(b, ':'), m.reasoning)
	}
	if len(m.calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i, call := range m.calls {
			if i > 0 {
				b = append(b, ',')
			}
			b = call.encode(b)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

func (m message) content(b []byte) []byte {
	switch {
	case m.reasoning != "" && m.thinking == thinkingParts:
		b = quote(append(b, `[{"type":"thinking","thinking":[{"type":"text","text":`...), m.reasoning)
		b = quote(append(b, `}]},{"type":"text","text":`...), m.text)
		return append(b, `}]`...)
	case m.text == "" && len(m.calls) > 0:
		return append(b, "null"...)
	}
	return quote(b, m.text)
}

func (c messageCall) encode(b []byte) []byte {
	b = quote(append(b, `{"id":`...), c.ID)
	b = quote(append(b, `,"type":"function","function":{"name":`...), c.Name)
	b = quote(append(b, `,"arguments":`...), c.Arguments)
	b = append(b, '}')
	if len(c.extra) > 0 {
		b = append(append(b, `,"extra_content":`...), c.extra...)
	}
	return append(b, '}')
}

// quote appends text as a JSON string. Bytes that are not UTF-8 become U+FFFD;
// nothing else changes.
func quote(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text) // the error reports what was replaced
	return b
}

// RepairMessage returns an assistant message of dialect "openai-chat" with the
// ids and arguments of some of its calls replaced, by the place of the call in
// the message. All other bytes stay as they are. A place that the message does
// not have is an error, ErrMessage in its chain.
func RepairMessage(message stdjson.RawMessage, ids, arguments map[int]string) (stdjson.RawMessage, error) {
	places, err := locateCalls(message)
	if err != nil {
		return nil, err
	}
	for _, repairs := range []map[int]string{ids, arguments} {
		for i := range repairs {
			if i < 0 || i >= len(places) {
				return nil, fmt.Errorf("%w: there is no call %d among %d", ErrMessage, i, len(places))
			}
		}
	}
	return splice(message, places, ids, arguments)
}

func splice(message []byte, places []callPlace, ids, arguments map[int]string) (stdjson.RawMessage, error) {
	var edits []edit
	for i, place := range places {
		if id, ok := ids[i]; ok {
			edits = append(edits, edit{span: place.id, text: id})
		}
		if text, ok := arguments[i]; ok {
			edits = append(edits, edit{span: place.arguments, text: text})
		}
	}
	return applyEdits(message, edits)
}

// span is a part of a message; end is 0 where the message has no such part.
type span struct{ start, end int }

type callPlace struct{ id, arguments span }

type edit struct {
	span

	text string
}

// applyEdits replaces each span by its text, quoted.
func applyEdits(message []byte, edits []edit) (stdjson.RawMessage, error) {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.end == 0 {
			return nil, fmt.Errorf("%w: a call without the member to be replaced", ErrMessage)
		}
		out = quote(append(out, message[at:e.start]...), e.text)
		at = e.end
	}
	return append(out, message[at:]...), nil
}

// locateCalls returns where the ids and arguments of the calls stand.
func locateCalls(message []byte) ([]callPlace, error) {
	w := walker{dec: jsontext.NewDecoder(bytes.NewReader(message))}
	var places []callPlace
	err := w.object(func(name string) error {
		if name != "tool_calls" {
			return w.dec.SkipValue()
		}
		return w.array(func() error {
			place, err := w.call()
			places = append(places, place)
			return err
		})
	})
	if err == nil {
		err = w.end()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return places, nil
}

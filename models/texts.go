package models

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

// reason takes the thinking from whichever name it came under; a server that
// uses both names says the same twice.
func (t *turnReader) reason(d delta) error {
	v, form := d.ReasoningContent, thinkingContent
	if empty(v) {
		v, form = d.Reasoning, thinkingReasoning
	}
	if absent(v) {
		return nil
	}
	if v.Kind() != '"' {
		return invalidStream("reasoning is %s, not a string", excerpt(v, 40))
	}
	t.think(v, form)
	return nil
}

// contentPart is an element of a content that is a list: some servers put text
// and thinking side by side there.
type contentPart struct {
	Type     string         `json:"type"`
	Text     jsontext.Value `json:"text"`
	Thinking jsontext.Value `json:"thinking"`
}

// content takes in content: a string, null, or a list of parts.
func (t *turnReader) content(v jsontext.Value) error {
	switch {
	case absent(v):
		return nil
	case v.Kind() == '"':
		t.say(v)
		return nil
	}
	var parts []contentPart
	if err := json.Unmarshal(v, &parts, jsontext.AllowInvalidUTF8(true)); err != nil {
		return invalidStream("content is neither text nor a list of parts: %s", excerpt(v, 80))
	}
	for _, part := range parts {
		if err := t.part(part); err != nil {
			return err
		}
	}
	return nil
}

func (t *turnReader) part(p contentPart) error {
	var thoughts []contentPart
	switch {
	case p.Text.Kind() == '"':
		t.say(p.Text)
	case p.Thinking.Kind() == '"':
		t.think(p.Thinking, thinkingParts)
	case p.Thinking.Kind() == '[':
		if err := json.Unmarshal(p.Thinking, &thoughts, jsontext.AllowInvalidUTF8(true)); err != nil {
			return invalidStream("thinking is not a list of parts: %s", excerpt(p.Thinking, 80))
		}
	}
	for _, thought := range thoughts {
		if thought.Text.Kind() == '"' {
			t.think(thought.Text, thinkingParts)
		}
	}
	return nil
}

func (t *turnReader) say(v jsontext.Value) {
	text, _ := t.textPieces.add(v)
	t.emit(agent.Delta{Text: text})
}

func (t *turnReader) think(v jsontext.Value, form thinkingForm) {
	text, _ := t.reasoningPieces.add(v)
	t.thinking = cmp.Or(t.thinking, form)
	t.emit(agent.Delta{Reasoning: text})
}

func (t *turnReader) emit(d agent.Delta) {
	if d == (agent.Delta{}) {
		return
	}
	t.text.WriteString(d.Text)
	t.reasoning.WriteString(d.Reasoning)
	t.bytes += len(d.Text) + len(d.Reasoning)
	t.sink(d)
}

// flush gives out what the end of the stream left waiting.
func (t *turnReader) flush() {
	t.emit(agent.Delta{Reasoning: t.reasoningPieces.rest()})
	t.emit(agent.Delta{Text: t.textPieces.rest()})
}

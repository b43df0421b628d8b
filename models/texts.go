package models

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

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

// textPieces decodes the strings that one text is delivered in. Servers that
// cut text by UTF-16 units deliver the halves of a surrogate pair in two
// strings; here they become the one character that was meant.
type textPieces struct {
	held string // the escape of a first half that waits for its second
}

// add decodes the next string. whole is false where a half stayed alone and
// was replaced by U+FFFD.
func (p *textPieces) add(v jsontext.Value) (text string, whole bool) {
	body := p.held + string(v[1:len(v)-1])
	cut := len(body)
	if endsInFirstHalf(body) {
		cut -= len(`\uD800`)
	}
	p.held = body[cut:]
	decoded, err := jsontext.AppendUnquote(nil, `"`+body[:cut]+`"`)
	return string(decoded), err == nil
}

// rest is what the end of the text leaves over: "" or U+FFFD for a lone half.
func (p *textPieces) rest() string {
	if p.held == "" {
		return ""
	}
	p.held = ""
	return string(utf8.RuneError)
}

// endsInFirstHalf reports whether the body of a JSON string ends in the escape of
// a high surrogate, \uD800 to \uDBFF.
func endsInFirstHalf(body string) bool {
	at := len(body) - len(`\uD800`)
	if at < 0 || body[at] != '\\' || body[at+1] != 'u' {
		return false
	}
	unit, err := strconv.ParseUint(body[at+2:], 16, 16)
	if err != nil || unit < 0xD800 || unit > 0xDBFF {
		return false
	}
	before := len(body[:at]) - len(strings.TrimRight(body[:at], `\`))
	return before%2 == 0 // otherwise the backslash is itself escaped
}

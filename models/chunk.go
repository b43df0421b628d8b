package models

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

// chunk is one chat.completion.chunk as far as it matters here. Members on
// whose type servers disagree stay raw; unknown members are ignored.
type chunk struct {
	Choices []choice       `json:"choices"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`
	Object  jsontext.Value `json:"object"`
}

type choice struct {
	Index        jsontext.Value `json:"index"`
	Delta        delta          `json:"delta"`
	FinishReason jsontext.Value `json:"finish_reason"`
	Error        jsontext.Value `json:"error"`
}

type delta struct {
	Content          jsontext.Value `json:"content"`
	Refusal          jsontext.Value `json:"refusal"`
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	Reasoning        jsontext.Value `json:"reasoning"`
	ToolCalls        []callPiece    `json:"tool_calls"`
}

// callPiece is one entry of tool_calls: a call, or a piece of one.
type callPiece struct {
	Index    jsontext.Value `json:"index"`
	ID       jsontext.Value `json:"id"`
	Function struct {
		Name      jsontext.Value `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
	// Extra is what some providers want back with the call, unread.
	Extra jsontext.Value `json:"extra_content"`
}

// parseChunk reads one event's data. Names are matched by exact case, and a
// member named twice is refused: which of the two holds would be a guess.
// Escaped halves of surrogate pairs are let through, for textPieces to join.
func parseChunk(data []byte) (chunk, error) {
	var c chunk
	if !utf8.Valid(data) {
		return c, invalidStream("a chunk is not UTF-8")
	}
	if err := json.Unmarshal(data, &c, jsontext.AllowInvalidUTF8(true)); err != nil {
		return c, invalidStream("a chunk cannot be read: %v: %s", err, excerpt(data, 200))
	}
	return c, nil
}

// first returns the choice with index 0, the only one that was asked for. A
// choice without an index has its place in the list.
func (c chunk) first() (choice, bool, error) {
	for i, choice := range c.Choices {
		index := new(int64(i))
		if !absent(choice.Index) {
			var err error
			if index, err = indexOf(choice.Index); err != nil {
				return choice, false, err
			}
		}
		if *index == 0 {
			return choice, true, nil
		}
	}
	return choice{}, false, nil
}

// failure returns the error that the chunk reports, if it does: a member error
// beside or inside the choices, or the whole chunk being an error object.
func (c chunk) failure(data []byte) *agent.TurnError {
	if !empty(c.Error) {
		return providerFailure(c.Error)
	}
	if string(c.Object) == `"error"` {
		return providerFailure(data)
	}
	for _, choice := range c.Choices {
		if !empty(choice.Error) {
			return providerFailure(choice.Error)
		}
	}
	return nil
}

// absent reports whether a member was left out or is null.
func absent(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// empty is absent, or the empty string.
func empty(v jsontext.Value) bool { return absent(v) || string(v) == `""` }

// indexOf reads an index; nil means that there is none.
func indexOf(v jsontext.Value) (*int64, error) {
	if absent(v) {
		return nil, nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return nil, invalidStream("an index is %s, not a whole number", excerpt(v, 40))
	}
	return &n, nil
}

// word reads a string that comes in one piece; absent is "".
func word(what string, v jsontext.Value) (string, error) {
	if absent(v) {
		return "", nil
	}
	if v.Kind() != '"' {
		return "", invalidStream("%s is %s, not a string", what, excerpt(v, 40))
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", invalidStream("%s is not Unicode: %s", what, excerpt(v, 40))
	}
	return string(text), nil
}

func invalidStream(format string, args ...any) *agent.TurnError {
	return &agent.TurnError{Code: agent.CodeInvalidStream, Message: fmt.Sprintf(format, args...)}
}

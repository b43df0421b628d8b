package models

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// count notes usage. Servers send it once, several times alike, or growing:
// the largest of each is the count, and nothing is added up.
func (t *turnReader) count(v jsontext.Value) {
	var u struct {
		Prompt     jsontext.Value `json:"prompt_tokens"`
		Completion jsontext.Value `json:"completion_tokens"`
		Total      jsontext.Value `json:"total_tokens"`
	}
	if v.Kind() != '{' || json.Unmarshal(v, &u, jsontext.AllowInvalidUTF8(true)) != nil {
		return // a count is worth no failed turn
	}
	t.usage.PromptTokens = max(t.usage.PromptTokens, tokens(u.Prompt))
	t.usage.CompletionTokens = max(t.usage.CompletionTokens, tokens(u.Completion))
	t.usage.TotalTokens = max(t.usage.TotalTokens, tokens(u.Total))
}

// maxTokens is beyond what a turn can have. What claims more is no count; so
// the two of a turn add up without passing the largest number.
const maxTokens = 1 << 60

func tokens(v jsontext.Value) int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 || n > maxTokens {
		return 0
	}
	return n
}

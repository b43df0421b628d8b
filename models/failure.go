package models

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

const maxWords = 2 << 10 // bytes of what a provider says that an error repeats

// providerFailure is the error that a provider sent inside a stream. Asking
// again may help unless its own status says that the request was at fault.
func providerFailure(raw []byte) *agent.TurnError {
	status := failureStatus(raw)
	return &agent.TurnError{
		Code:      agent.CodeProviderError,
		Message:   "the provider says: " + providerWords(raw),
		Retryable: status < 400 || status > 499 || status == 408 || status == 429,
	}
}

// failureBody is an error as the servers write it: flat, or inside "error".
type failureBody struct {
	Error   jsontext.Value `json:"error"`
	Message jsontext.Value `json:"message"`
	Detail  jsontext.Value `json:"detail"`
	Code    jsontext.Value `json:"code"`
	Status  jsontext.Value `json:"status_code"`
}

func parseFailure(raw []byte) (failureBody, bool) {
	var b failureBody
	lenient := []json.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}
	return b, json.Unmarshal(raw, &b, lenient...) == nil
}

// eventError returns the error object of an error event.
func eventError(data []byte) []byte {
	if b, ok := parseFailure(data); ok && !empty(b.Error) {
		return b.Error
	}
	return data
}

// providerWords finds the message in an error body of any shape, and returns
// the body itself where it finds none.
func providerWords(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "(nothing)"
	}
	if text, err := jsontext.AppendUnquote(nil, raw); err == nil {
		return excerpt(text, maxWords)
	}
	b, ok := parseFailure(raw)
	if !ok {
		return excerpt(raw, maxWords)
	}
	if !empty(b.Error) {
		return providerWords(b.Error)
	}
	for _, v := range []jsontext.Value{b.Message, b.Detail} {
		if v.Kind() == '"' && !empty(v) {
			return withCode(providerWords(v), b.Code)
		}
	}
	return excerpt(raw, maxWords)
}

// withCode adds the provider's own name for an error.
func withCode(words string, code jsontext.Value) string {
	if code.Kind() != '"' || empty(code) {
		return words
	}
	return words + " (" + providerWords(code) + ")"
}

// failureStatus returns the HTTP status that an error object carries, or 0.
func failureStatus(raw []byte) int {
	b, _ := parseFailure(raw)
	for _, v := range []jsontext.Value{b.Status, b.Code} {
		if n, err := strconv.Atoi(strings.Trim(string(v), `"`)); err == nil {
			return n
		}
	}
	return 0
}

// excerpt returns the first limit bytes of text as valid UTF-8, and says how
// much it left out.
func excerpt(text []byte, limit int) string {
	if len(text) <= limit {
		return strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return strings.ToValidUTF8(string(text[:limit]), "") + fmt.Sprintf("… (%d bytes more)", len(text)-limit)
}

package models

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/agent"
)

// finishKind is what a finish reason means for the calls of its turn. The
// kinds from finishCut on start no tool.
type finishKind int

const (
	finishUnknown finishKind = iota // a word of the server's own
	finishWhole                     // the model ended the turn itself
	finishCalls                     // the same, and says that it asked for tools
	finishCut                       // the provider cut the turn short
	finishFailed                    // the provider gave up on the turn
)

// finishOf sorts the words of OpenAI and of servers that speak its protocol
// with their own words.
func finishOf(word string) finishKind {
	switch strings.ToLower(word) {
	case "stop", "end_turn", "stop_sequence", "eos", "eos_token":
		return finishWhole
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return finishCalls
	case "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded",
		"content_filter", "content_filtered", "safety", "recitation", "sensitive", "refusal":
		return finishCut
	case "error", "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled", "timeout":
		return finishFailed
	}
	return finishUnknown
}

// judgeFinish returns why a turn that ended with this word may not go on, or
// nil. The word alone never decides that there are calls: servers say "stop"
// where they are, and "tool_calls" where there is text.
func judgeFinish(word string, calls int, text bool) error {
	switch kind := finishOf(word); {
	case kind == finishCut:
		return &agent.TurnError{
			Code:    agent.CodeTruncated,
			Message: fmt.Sprintf("the provider cut the turn short (%s); none of its calls was started", word),
		}
	case kind == finishFailed:
		return &agent.TurnError{
			Code:      agent.CodeProviderError,
			Message:   fmt.Sprintf("the provider ended the turn with %q", excerpt([]byte(word), 80)),
			Retryable: true,
		}
	case kind == finishUnknown && word != "" && calls > 0:
		return invalidStream("the turn ended with %q, which is not known to mean that its calls are complete", excerpt([]byte(word), 80))
	case kind == finishCalls && calls == 0 && !text:
		return invalidStream("the turn ended with %q, but no call and no text had come", word)
	}
	return nil
}

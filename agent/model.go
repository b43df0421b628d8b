package agent

import (
	"context"
	"encoding/json"

	"github.com/countersign-dev/countersign/events"
)

// Model is a provider client: it turns one request into one turn.
//
// Stream calls sink for each piece of text or reasoning, in order, from the
// goroutine that called Stream. It returns the turn that the provider
// finished, or, with a *TurnError, what had arrived of a turn that it did not:
// such a turn starts no tool. A context that ends gives its cause.
type Model interface {
	// Name is the configured name, what modelName in a request picks.
	Name() string
	// Dialect names the form of Message in Request and Turn, as recorded in
	// round_finished: "openai-chat".
	Dialect() string
	Stream(ctx context.Context, req Request, sink func(Delta)) (Turn, error)
	// Repair returns a Turn's message with nothing changed but what the
	// repairs say: call ids, and empty arguments.
	Repair(message json.RawMessage, repairs []events.Repair) (json.RawMessage, error)
	// Text returns what a message says, and what it shows as thinking.
	Text(message json.RawMessage) (text, reasoning string)
}

// Request is what one model round is asked.
type Request struct {
	// System is the system prompt, or "".
	System string
	// Messages are the conversation so far, oldest first, without the system
	// prompt.
	Messages []Message
	// Tools are the tools offered, in a stable order.
	Tools []ToolDefinition
}

// Message is one message of a conversation. Exactly one of User, Assistant and
// Results is set.
type Message struct {
	// User is what a person said.
	User *string
	// Assistant is the provider's own message, in the dialect of the model,
	// replayed to the byte (Turn.Message of an earlier round, after repairs).
	Assistant json.RawMessage
	// Results answer all calls of the Assistant message directly before, one a
	// call, in the order of the calls.
	Results []Result
}

// Result is what the model is told of one call.
type Result struct {
	CallID string // the provider's id, after repairs
	Name   string // the tool's name as the model wrote it
	Text   string // valid UTF-8
	Failed bool   // the dialect's error flag, where it has one
}

// ToolDefinition is a tool as the model sees it.
type ToolDefinition struct {
	Name        string
	Description string
	// Schema is the JSON Schema (2020-12) of the arguments object.
	Schema json.RawMessage
}

// Delta is one streamed piece. Exactly one member is not empty.
type Delta struct {
	Text      string
	Reasoning string
}

// Turn is one finished model round.
type Turn struct {
	Text      string
	Reasoning string
	// Calls are complete and in the model's order. Arguments are the model's
	// own text to the byte, "" where it was absent or null.
	Calls []Call
	// Finish is the provider's word ("tool_calls", "stop", "length", ...).
	Finish string
	// Usage counts tokens; zero where the provider did not say.
	Usage Usage
	// Message is the assistant message in the model's dialect, ready to be
	// replayed in Request.Messages.
	Message json.RawMessage
}

// Call is a tool call as the provider delivered it.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// Usage counts the tokens of a round or run.
type Usage struct {
	PromptTokens     int64 `json:"promptTokens"`
	CompletionTokens int64 `json:"completionTokens"`
	TotalTokens      int64 `json:"totalTokens"`
}

// recorded is a usage as events have it. What is below zero is no count.
func (u Usage) recorded() events.Usage {
	return events.Usage{Prompt: max(0, u.PromptTokens), Completion: max(0, u.CompletionTokens), Total: max(0, u.TotalTokens)}
}

// TurnError says why a turn did not finish. Its Code is one of the classes
// below and goes to clients and into the log.
type TurnError struct {
	Code    string
	Message string // what happened, for people; may quote the provider
	// Retryable is true where asking again may help and nothing was decided.
	Retryable bool
}

// The classes of TurnError.
const (
	CodeUnexpectedEOF = "unexpected_eof" // the stream ended without its terminal event
	CodeTruncated     = "truncated"      // the provider cut the turn at a length limit
	CodeInvalidStream = "invalid_stream" // the stream is not what the protocol says
	CodeProviderError = "provider_error" // the provider sent an error; Message has its words
	CodeUnavailable   = "unavailable"    // no connection, time-out, 429 or 5xx before the stream began
	CodeLimit         = "limit"          // a line or turn beyond the documented bound
	CodeLogRefused    = "log_refused"    // the audit log takes no new work: no audit, no action
	CodeLost          = "calls_lost"     // the log holds a round without all of its calls
)

func (e *TurnError) Error() string { return e.Code + ": " + e.Message }

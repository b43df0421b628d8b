package agent

import "encoding/json"

// The types of the events of a run's feed, as the chat protocol spells them.
const (
	EventReasoning  = "reasoning"
	EventToken      = "token"
	EventToolCall   = "tool_call"
	EventFinish     = "finish"
	EventApproval   = "approval_request"
	EventHeartbeat  = "heartbeat"
	EventToolResult = "tool_result"
	EventError      = "error"
	EventReset      = "reset"
)

// Event is one event of a run's feed, in the form that goes to clients as
// JSON. Which members are set depends on Type.
type Event struct {
	Type string `json:"type"`

	Data string `json:"data,omitzero"` // reasoning, token

	ToolCalls []EventCall `json:"toolCalls,omitzero"` // tool_call

	Reason string `json:"reason,omitzero"` // finish
	Usage  *Usage `json:"usage,omitzero"`  // finish

	RequestID       string `json:"requestId,omitzero"` // approval_request, to ExpiresAt
	ToolCallID      string `json:"toolCallId,omitzero"`
	ToolName        string `json:"toolName,omitzero"`
	Arguments       string `json:"arguments,omitzero"`
	ArgumentsDigest string `json:"argumentsDigest,omitzero"` // "sha256:" and the lower-case hex SHA-256 of Arguments
	Rule            string `json:"rule,omitzero"`
	ExpiresAt       string `json:"expiresAt,omitzero"` // RFC 3339

	ToolResults []EventResult `json:"toolResults,omitzero"` // tool_result

	Code    string `json:"code,omitzero"`    // error
	Message string `json:"message,omitzero"` // error
}

// MarshalJSON implements json.Marshaler: members that belong to a type are
// there also where they are empty.
func (e Event) MarshalJSON() ([]byte, error) {
	switch e.Type {
	case EventReasoning, EventToken:
		return json.Marshal(struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{e.Type, e.Data})
	case EventError:
		return json.Marshal(struct {
			Type    string `json:"type"`
			Code    string `json:"code"`
			Message string `json:"message"`
		}{e.Type, e.Code, e.Message})
	default:
		type plain Event
		return json.Marshal(plain(e))
	}
}

// EventCall is a call in a tool_call event.
type EventCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Source    string `json:"source,omitzero"`
}

// EventResult is a result in a tool_result event.
type EventResult struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Result string `json:"result"`
	Status string `json:"status"`
	Cause  string `json:"cause,omitzero"`
}

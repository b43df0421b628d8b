package models

import (
	"cmp"
	stdjson "encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

// ErrRequest is in the chain of the error of a request that no provider would
// accept: it was not sent.
var ErrRequest = errors.New("request cannot be sent")

// encodeRequest returns the body of a chat-completions request. Whatever the
// texts hold, it is valid JSON.
func encodeRequest(model string, req agent.Request) ([]byte, error) {
	b := quote([]byte(`{"model":`), model)
	b, err := appendMessages(append(b, `,"messages":[`...), req)
	if err != nil {
		return nil, err
	}
	b = append(b, ']')
	if len(req.Tools) > 0 { // an empty list is refused by some servers
		if b, err = appendTools(append(b, `,"tools":[`...), req.Tools); err != nil {
			return nil, err
		}
		b = append(b, ']')
	}
	return append(b, `,"stream":true,"stream_options":{"include_usage":true}}`...), nil
}

// appendMessages appends the conversation. Providers want each assistant
// message with calls to be followed at once by one tool message for each call,
// so the results are checked against the calls and put in their order.
func appendMessages(b []byte, req agent.Request) ([]byte, error) {
	start := len(b)
	if req.System != "" {
		b = appendText(b, "system", req.System)
	}
	var open []string // the ids of calls without results so far
	for i, m := range req.Messages {
		if len(b) > start {
			b = append(b, ',')
		}
		var err error
		if b, open, err = appendMessage(b, m, open); err != nil {
			return nil, fmt.Errorf("%w: message %d: %w", ErrRequest, i, err)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%w: the last message has calls without results: %q", ErrRequest, open)
	}
	return b, nil
}

// appendMessage appends one message and returns the calls it leaves open.
func appendMessage(b []byte, m agent.Message, open []string) ([]byte, []string, error) {
	switch {
	case kinds(m) != 1:
		return nil, nil, errors.New("exactly one of User, Assistant and Results must be set")
	case m.Results != nil:
		b, err := appendResults(b, m.Results, open)
		return b, nil, err
	case len(open) > 0:
		return nil, nil, fmt.Errorf("calls without results come before it: %q", open)
	case m.User != nil:
		return appendText(b, "user", *m.User), nil, nil
	}
	ids, err := assistantCalls(m.Assistant)
	return append(b, m.Assistant...), ids, err
}

func kinds(m agent.Message) int {
	n := 0
	for _, set := range []bool{m.User != nil, m.Assistant != nil, m.Results != nil} {
		if set {
			n++
		}
	}
	return n
}

// assistantCalls returns the ids of an assistant message's calls.
func assistantCalls(raw stdjson.RawMessage) ([]string, error) {
	var m struct {
		Role      string `json:"role"`
		ToolCalls []struct {
			ID string `json:"id"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	if m.Role != "assistant" {
		return nil, fmt.Errorf("%w: its role is %q", ErrMessage, m.Role)
	}
	ids := make([]string, len(m.ToolCalls))
	for i, call := range m.ToolCalls {
		ids[i] = call.ID
	}
	return ids, nil
}

// appendResults appends one tool message for each open call, in the order of
// the calls.
func appendResults(b []byte, results []agent.Result, open []string) ([]byte, error) {
	if len(results) != len(open) {
		return nil, fmt.Errorf("%d results for %d calls", len(results), len(open))
	}
	byID := make(map[string][]agent.Result, len(results))
	for i, r := range results {
		id := cmp.Or(r.CallID, open[i]) // a call that was never recorded has its place alone
		byID[id] = append(byID[id], r)
	}
	for i, id := range open {
		if len(byID[id]) == 0 {
			return nil, fmt.Errorf("call %q has no result", id)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = quote(append(b, `{"role":"tool","tool_call_id":`...), id)
		b = quote(append(b, `,"content":`...), byID[id][0].Text)
		b = append(b, '}')
		byID[id] = byID[id][1:]
	}
	return b, nil
}

func appendText(b []byte, role, text string) []byte {
	b = quote(append(b, `{"role":`...), role)
	return append(quote(append(b, `,"content":`...), text), '}')
}

func appendTools(b []byte, tools []agent.ToolDefinition) ([]byte, error) {
	for i, tool := range tools {
		schema := jsontext.Value(tool.Schema)
		if len(schema) == 0 {
			schema = jsontext.Value(`{"type":"object","properties":{}}`)
		}
		if !schema.IsValid() || schema.Kind() != '{' {
			return nil, fmt.Errorf("%w: the schema of tool %q is not a JSON object", ErrRequest, tool.Name)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = quote(append(b, `{"type":"function","function":{"name":`...), tool.Name)
		b = quote(append(b, `,"description":`...), tool.Description)
		b = append(append(b, `,"parameters":`...), schema...)
		b = append(b, `}}`...)
	}
	return b, nil
}

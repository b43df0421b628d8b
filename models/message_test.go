package models

import (
	stdjson "encoding/json"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/agent"
)

// wireMessage is how a provider reads an assistant message.
type wireMessage struct {
	Role      string  `json:"role"`
	Content   *string `json:"content"`
	Reasoning string  `json:"reasoning_content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (m wireMessage) calls() []agent.Call {
	var out []agent.Call
	for _, c := range m.ToolCalls {
		out = append(out, agent.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out
}

// requireReplayable: the turn's message says what the turn says.
func requireReplayable(t require.TestingT, turn agent.Turn) {
	var m wireMessage
	require.NoError(t, json.Unmarshal(turn.Message, &m), "%s", turn.Message)
	require.Equal(t, "assistant", m.Role)
	require.Equal(t, turn.Calls, m.calls())
	if m.Content == nil {
		require.Empty(t, turn.Text)
		require.NotEmpty(t, turn.Calls)
	} else {
		require.Equal(t, turn.Text, *m.Content)
	}
}

func TestMessageEncode(t *testing.T) {
	call := agent.Call{ID: "c", Name: "Read", Arguments: `{"a":"é\n"}`}
	tests := []struct {
		name string
		in   message
		want string
	}{
		{"text", message{text: "a\"b\u2028\x01"}, `{"role":"assistant","content":"a\"b` + "\u2028" + `\u0001"}`},
		{"nothing", message{}, `{"role":"assistant","content":""}`},
		{
			"a call alone", message{calls: []messageCall{{Call: call}}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"Read","arguments":"{\"a\":\"é\\n\"}"}}]}`,
		},
		{
			"all of it", message{text: "t", reasoning: "r", calls: []messageCall{{Call: agent.Call{ID: "c", Name: "N"}, extra: []byte(`{"sig": "x"}`)}}},
			`{"role":"assistant","content":"t","reasoning_content":"r","tool_calls":[{"id":"c","type":"function","function":{"name":"N","arguments":""},"extra_content":{"sig": "x"}}]}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, string(test.in.encode())) })
	}
}

func TestRepairMessage(t *testing.T) {
	const original = ` { "tool_calls" : [ {"function": { "arguments" : "" , "name":"A"}, "id" : "same","x":[1e2]}, {"id":"same","function":{"arguments":null}} ] ,"role":"assistant" , "content":"\u00e9"} `
	tests := []struct {
		name      string
		ids       map[int]string
		arguments map[int]string
		want      string
	}{
		{"nothing", nil, nil, original},
		{"an id", map[int]string{1: "new\""}, nil, ` { "tool_calls" : [ {"function": { "arguments" : "" , "name":"A"}, "id" : "same","x":[1e2]}, {"id":"new\"","function":{"arguments":null}} ] ,"role":"assistant" , "content":"\u00e9"} `},
		{"arguments", nil, map[int]string{0: "{}", 1: "{}"}, ` { "tool_calls" : [ {"function": { "arguments" : "{}" , "name":"A"}, "id" : "same","x":[1e2]}, {"id":"same","function":{"arguments":"{}"}} ] ,"role":"assistant" , "content":"\u00e9"} `},
		{"both in one call, in either order", map[int]string{0: "n", 1: "m"}, map[int]string{0: "{}"}, ` { "tool_calls" : [ {"function": { "arguments" : "{}" , "name":"A"}, "id" : "n","x":[1e2]}, {"id":"m","function":{"arguments":null}} ] ,"role":"assistant" , "content":"\u00e9"} `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := RepairMessage(stdjson.RawMessage(original), test.ids, test.arguments)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}

func TestRepairMessageRefuses(t *testing.T) {
	one := map[int]string{0: "x"}
	tests := []struct {
		name, message  string
		ids, arguments map[int]string
	}{
		{"no JSON", `{"tool_calls":[`, nil, nil},
		{"no object", `[]`, nil, nil},
		{"calls that are no list", `{"tool_calls":{}}`, nil, nil},
		{"a call that is no object", `{"tool_calls":["x"]}`, nil, nil},
		{"members named twice", `{"tool_calls":[],"tool_calls":[]}`, nil, nil},
		{"more text", `{} {}`, nil, nil},
		{"a call that is not there", `{"tool_calls":[{"id":"a"}]}`, map[int]string{1: "x"}, nil},
		{"a negative place", `{"tool_calls":[{"id":"a"}]}`, map[int]string{-1: "x"}, nil},
		{"no calls", `{"tool_calls":null}`, one, nil},
		{"a call without an id", `{"tool_calls":[{"function":{"arguments":""}}]}`, one, nil},
		{"a call without arguments", `{"tool_calls":[{"id":"a","function":{}}]}`, nil, one},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := RepairMessage(stdjson.RawMessage(test.message), test.ids, test.arguments)
			require.ErrorIs(t, err, ErrMessage)
		})
	}
}

// For all messages and repairs: what was repaired is as asked, the rest as it
// was, and repairing back gives the message's own bytes.
func TestRepairMessageProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message{text: rapid.String().Draw(t, "text"), reasoning: rapid.String().Draw(t, "reasoning")}
		for range rapid.IntRange(1, 4).Draw(t, "calls") {
			m.calls = append(m.calls, messageCall{Call: agent.Call{
				ID: rapid.String().Draw(t, "id"), Name: rapid.String().Draw(t, "name"), Arguments: rapid.String().Draw(t, "arguments"),
			}})
		}
		place := rapid.IntRange(0, len(m.calls)-1).Draw(t, "place")
		id, arguments := rapid.String().Draw(t, "new id"), rapid.String().Draw(t, "new arguments")
		before := m.encode()
		old := m.calls[place].Call
		got, err := RepairMessage(before, map[int]string{place: id}, map[int]string{place: arguments})
		require.NoError(t, err)
		m.calls[place].ID, m.calls[place].Arguments = id, arguments
		require.Equal(t, string(m.encode()), string(got))
		back, err := RepairMessage(got, map[int]string{place: old.ID}, map[int]string{place: old.Arguments})
		require.NoError(t, err)
		require.Equal(t, string(before), string(back))
	})
}

package models

import (
	stdjson "encoding/json"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

// wireMessage is how a provider reads an assistant message.
type wireMessage struct {
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	Reasoning string         `json:"reasoning_content"`
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
	text, reasoning := chat{}.Text(turn.Message)
	require.Equal(t, turn.Text, text)
	require.Equal(t, turn.Reasoning, reasoning)
	if len(turn.Calls) == 0 {
		require.NotEqual(t, "null", string(m.Content))
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
			"a call alone",
			message{calls: []messageCall{{Call: call}}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"Read","arguments":"{\"a\":\"é\\n\"}"}}]}`,
		},
		{"the other name", message{text: "t", reasoning: "r", thinking: thinkingReasoning}, `{"role":"assistant","content":"t","reasoning":"r"}`},
		{
			"thinking in parts",
			message{text: "t", reasoning: "r", thinking: thinkingParts},
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"r"}]},{"type":"text","text":"t"}]}`,
		},
		{
			"all of it",
			message{text: "t", reasoning: "r", thinking: thinkingContent, calls: []messageCall{{Call: agent.Call{ID: "c", Name: "N"}, extra: []byte(`{"sig": "x"}`)}}},
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

func TestDialectRepair(t *testing.T) {
	before := message{calls: []messageCall{{Call: agent.Call{ID: "a", Name: "N"}}, {Call: agent.Call{ID: "a", Name: "N"}}}}
	after := message{calls: []messageCall{{Call: agent.Call{ID: "a", Name: "N", Arguments: "{}"}}, {Call: agent.Call{ID: "b", Name: "N"}}}}
	id, arguments := events.Repair{Index: 1, What: events.RepairID, Now: "b"}, events.Repair{Index: 0, What: events.RepairArguments, Now: "{}"}
	got, err := chat{}.Repair(before.encode(), []events.Repair{id, arguments})
	require.NoError(t, err)
	require.Equal(t, string(after.encode()), string(got))
	for _, bad := range [][]events.Repair{{{Index: 0, What: "name", Now: "M"}}, {id, id}, {{Index: 2, What: events.RepairID, Now: "x"}}} {
		_, err := chat{}.Repair(before.encode(), bad)
		require.ErrorIs(t, err, ErrMessage)
	}
}

// For all messages and repairs: what was repaired is as asked, the rest as it
// was, and repairing back gives the message's own bytes.
func TestRepairMessageProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message{text: rapid.String().Draw(t, "text"), reasoning: rapid.String().Draw(t, "reasoning"), thinking: rapid.SampledFrom([]thinkingForm{thinkingContent, thinkingReasoning, thinkingParts}).Draw(t, "form")}
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

package models

import (
	stdjson "encoding/json"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

func user(text string) agent.Message { return agent.Message{User: &text} }

func assistant(raw string) agent.Message { return agent.Message{Assistant: stdjson.RawMessage(raw)} }

func results(rs ...agent.Result) agent.Message { return agent.Message{Results: rs} }

// calling is an assistant message that calls these ids.
func calling(ids ...string) agent.Message {
	m := message{}
	for _, id := range ids {
		m.calls = append(m.calls, messageCall{Call: agent.Call{ID: id, Name: "T", Arguments: "{}"}})
	}
	return agent.Message{Assistant: m.encode()}
}

func TestEncodeRequest(t *testing.T) {
	odd := `{ "role":"assistant", "content":"\u00e9", "n":1e2, "tool_calls":[{"id":"a"},{"id":"b"}] }`
	req := agent.Request{
		System: "be brief",
		Messages: []agent.Message{
			user("q"), assistant(odd), results(agent.Result{CallID: "a", Text: "A"}, agent.Result{CallID: "b", Text: "B", Failed: true}),
			assistant(`{"role":"assistant","content":"done"}`), user("more"),
		},
		Tools: []agent.ToolDefinition{
			{Name: "Read", Description: "reads", Schema: stdjson.RawMessage(`{"type": "object","maximum":12345678901234567890}`)},
			{Name: "Now"},
		},
	}
	got, err := encodeRequest("gpt", req)
	require.NoError(t, err)
	require.Equal(t, `{"model":"gpt","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"q"},`+odd+
		`,{"role":"tool","tool_call_id":"a","content":"A"},{"role":"tool","tool_call_id":"b","content":"B"},{"role":"assistant","content":"done"},{"role":"user","content":"more"}],`+
		`"tools":[{"type":"function","function":{"name":"Read","description":"reads","parameters":{"type": "object","maximum":12345678901234567890}}},`+
		`{"type":"function","function":{"name":"Now","description":"","parameters":{"type":"object","properties":{}}}}],`+
		`"stream":true,"stream_options":{"include_usage":true}}`, string(got))
}

// Case 036: results stand directly after their calls, in the order of the
// calls, whichever finished first.
func TestResultsInCallOrder(t *testing.T) {
	var history struct {
		Assistant struct {
			ToolCalls []struct{ ID, Name, Arguments string } `json:"tool_calls"`
		} `json:"assistant"`
		Results []struct{ ID, Text string } `json:"results"`
	}
	require.NoError(t, json.Unmarshal(readFile(t, casesDir, "036-tool-messages-adjacent-and-ordered", "history.json"), &history, json.MatchCaseInsensitiveNames(true)))
	var m message
	var done agent.Message
	for _, c := range history.Assistant.ToolCalls {
		m.calls = append(m.calls, messageCall{Call: agent.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments}})
	}
	for _, r := range history.Results {
		done.Results = append(done.Results, agent.Result{CallID: r.ID, Text: r.Text})
	}
	require.Equal(t, "c2", done.Results[0].CallID)
	got, err := encodeRequest("m", agent.Request{Messages: []agent.Message{user("q"), {Assistant: m.encode()}, done}})
	require.NoError(t, err)
	require.Equal(t, []string{"user", "assistant(c1,c2)", "tool(c1)", "tool(c2)"}, roles(t, got))
}

// roles writes the messages of a request as a provider checks them.
func roles(t *testing.T, request []byte) []string {
	t.Helper()
	var r struct {
		Messages []struct {
			wireMessage

			ToolCallID string `json:"tool_call_id"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(request, &r))
	var out []string
	for _, m := range r.Messages {
		role := m.Role
		ids := m.ToolCallID
		for i, c := range m.ToolCalls {
			if i > 0 {
				ids += ","
			}
			ids += c.ID
		}
		if ids != "" {
			role += "(" + ids + ")"
		}
		out = append(out, role)
	}
	return out
}

func TestEncodeRequestRefuses(t *testing.T) {
	a, b := agent.Result{CallID: "a"}, agent.Result{CallID: "b"}
	tests := []struct {
		name     string
		messages []agent.Message
		message  string
	}{
		{"nothing set", []agent.Message{{}}, "message 0: exactly one"},
		{"two set", []agent.Message{{User: new("x"), Results: []agent.Result{}}}, "exactly one"},
		{"no JSON", []agent.Message{assistant(`{"role"`)}, "message 0"},
		{"another role", []agent.Message{assistant(`{"role":"user"}`)}, `"user"`},
		{"no results at the end", []agent.Message{calling("a")}, `["a"]`},
		{"a user between", []agent.Message{calling("a"), user("x"), results(a)}, "message 1: calls without results"},
		{"too few results", []agent.Message{calling("a", "b"), results(a)}, "1 results for 2 calls"},
		{"too many results", []agent.Message{calling("a"), results(a, b)}, "2 results for 1 calls"},
		{"results for other calls", []agent.Message{calling("a"), results(b)}, `call "a" has no result`},
		{"one result twice", []agent.Message{calling("a", "b"), results(a, a)}, `call "b" has no result`},
		{"results for nothing", []agent.Message{user("x"), results(a)}, "1 results for 0 calls"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := encodeRequest("m", agent.Request{Messages: test.messages})
			require.ErrorIs(t, err, ErrRequest)
			require.ErrorContains(t, err, test.message)
		})
	}
	_, err := encodeRequest("m", agent.Request{Tools: []agent.ToolDefinition{{Name: "Bad", Schema: stdjson.RawMessage(`{`)}}})
	require.ErrorIs(t, err, ErrRequest)
	require.ErrorContains(t, err, `"Bad"`)
}

// Whatever the texts hold, the request is JSON and says the same; only bytes
// that are no UTF-8 are replaced.
func FuzzEncodeRequest(f *testing.F) {
	f.Add("plain", "\x00\x1f\u2028\u2029</script>\"\\", "\xff\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, system, text, answer string) {
		req := agent.Request{
			System:   system,
			Messages: []agent.Message{user(text), calling(text), results(agent.Result{CallID: clean(text), Text: answer})},
			Tools:    []agent.ToolDefinition{{Name: text, Description: answer}},
		}
		got, err := encodeRequest(system, req)
		require.NoError(t, err)
		require.True(t, jsontext.Value(got).IsValid())
		var back struct {
			Messages []struct{ Role, Content string } `json:"messages"`
		}
		require.NoError(t, json.Unmarshal(got, &back, json.MatchCaseInsensitiveNames(true)))
		require.Equal(t, clean(answer), back.Messages[len(back.Messages)-1].Content)
		if system != "" {
			require.Equal(t, clean(system), back.Messages[0].Content)
		}
	})
}

// clean is the text as every JSON reader gets it.
func clean(text string) string {
	out := make([]rune, 0, len(text))
	for _, r := range text {
		out = append(out, r)
	}
	return string(out)
}

package models

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

// TestCallPieces gives the entries of tool_calls, one chunk each, and wants the
// calls, or an invalid stream.
func TestCallPieces(t *testing.T) {
	type calls = []agent.Call
	const a = `{"a":1}`
	read, write := agent.Call{ID: "r", Name: "Read", Arguments: a}, agent.Call{ID: "w", Name: "Write", Arguments: `{"b":2}`}
	tests := []struct {
		name   string
		pieces []string
		want   calls
	}{
		// What servers do to one call.
		{"plain", []string{
			`{"index":0,"id":"r","type":"function","function":{"name":"Read","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"a\""}}`, `{"index":0,"function":{"arguments":":1}"}}`,
		}, calls{read}},
		{"id null later", []string{`{"index":0,"id":"r","function":{"name":"Read"}}`, `{"index":0,"id":null,"function":{"name":null,"arguments":"{\"a\":1}"}}`}, calls{read}},
		{"id repeated", []string{`{"index":0,"id":"r","function":{"name":"Read"}}`, `{"index":0,"id":"r","function":{"arguments":"{\"a\":1}"}}`}, calls{read}},
		{"name repeated", []string{
			`{"index":0,"id":"r","function":{"name":"Read","arguments":"{\"a\""}}`,
			`{"index":0,"id":"r","function":{"name":"Read","arguments":":1}"}}`, `{"index":0,"id":"r","function":{"name":"Read","arguments":""}}`,
		}, calls{read}},
		{"name in pieces", []string{`{"index":0,"id":"r","function":{"name":"Re"}}`, `{"index":0,"function":{"name":"ad"}}`, `{"index":0,"function":{"arguments":"{\"a\":1}"}}`}, calls{read}},
		{"name late", []string{`{"index":0,"id":"r"}`, `{"index":0,"function":{"name":"Read","arguments":"{\"a\":1}"}}`}, calls{read}},
		{"id late", []string{`{"index":0,"function":{"name":"Read"}}`, `{"index":0,"id":"r","function":{"arguments":"{\"a\":1}"}}`}, calls{read}},
		{"index late", []string{`{"id":"r","function":{"name":"Read"}}`, `{"index":0,"function":{"arguments":"{\"a\":1}"}}`}, calls{read}},
		{"another id for each piece", []string{`{"index":0,"id":"r","function":{"name":"Read"}}`, `{"index":0,"id":"x","function":{"arguments":"{\"a\""}}`, `{"index":0,"id":"y","function":{"arguments":":1}"}}`}, calls{read}},
		{"no id at all", []string{`{"index":0,"function":{"name":"Read","arguments":"{\"a\":1}"}}`}, calls{{Name: "Read", Arguments: a}}},
		{"arguments as an object", []string{`{"index":0,"id":"r","function":{"name":"Read","arguments":{"a": 12345678901234567890 }}}`}, calls{{ID: "r", Name: "Read", Arguments: `{"a": 12345678901234567890 }`}}},
		{"arguments of another type keep their text", []string{`{"index":0,"id":"r","function":{"name":"Read","arguments":[1]}}`}, calls{{ID: "r", Name: "Read", Arguments: `[1]`}}},
		{"arguments are not repaired", []string{`{"index":0,"id":"r","function":{"name":"Read","arguments":"{}{\"a\":1}"}}`}, calls{{ID: "r", Name: "Read", Arguments: `{}{"a":1}`}}},
		{"a pair of surrogates in two pieces", []string{
			`{"index":0,"id":"r","function":{"name":"Read","arguments":"{\"a\":\"\ud83d"}}`,
			`{"index":0,"function":{"arguments":""}}`, `{"index":0,"function":{"arguments":"\ude80\"}"}}`,
		}, calls{{ID: "r", Name: "Read", Arguments: `{"a":"🚀"}`}}},
		{"an escaped backslash before ud83d", []string{`{"index":0,"id":"r","function":{"name":"Read","arguments":"{\"a\":\"\\ud83d"}}`, `{"index":0,"function":{"arguments":"\"}"}}`}, calls{{ID: "r", Name: "Read", Arguments: `{"a":"\ud83d"}`}}},
		{"empty entries", []string{`null`, `{}`, `{"index":0}`, `{"index":3,"id":"","function":{"name":"","arguments":""}}`}, nil},

		// Where one call ends and another begins.
		{"ordered by index", []string{`{"index":1,"id":"w","function":{"name":"Write","arguments":"{\"b\":2}"}}`, `{"index":0,"id":"r","function":{"name":"Read","arguments":"{\"a\":1}"}}`}, calls{read, write}},
		{"one index, two ids", []string{
			`{"index":0,"id":"r","function":{"name":"Read","arguments":"{\"a\":1}"}}`, `{"index":0,"id":"w","function":{"name":"Write","arguments":"{\"b\""}}`,
			`{"index":0,"function":{"arguments":":2}"}}`,
		}, calls{read, write}},
		{"one index, two ids, first without arguments", []string{`{"index":0,"id":"r","function":{"name":"Read"}}`, `{"index":0,"id":"w","function":{"name":"Write","arguments":"{\"b\":2}"}}`}, calls{{ID: "r", Name: "Read"}, write}},
		{"one index, no ids", []string{`{"index":0,"function":{"name":"Read","arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"name":"Write","arguments":"{\"b\":2}"}}`}, calls{{Name: "Read", Arguments: a}, {Name: "Write", Arguments: `{"b":2}`}}},
		{"one id, two indexes", []string{`{"index":0,"id":"r","function":{"name":"Read","arguments":"{\"a\":1}"}}`, `{"index":1,"id":"r","function":{"name":"Read","arguments":"{\"a\":1}"}}`}, calls{read, read}},
		{"one id, no index, other arguments", []string{`{"id":"r","function":{"name":"Read","arguments":"{\"a\":1}"}}`, `{"id":"r","function":{"name":"Read","arguments":"{\"a\":2}"}}`}, calls{read, {ID: "r", Name: "Read", Arguments: `{"a":2}`}}},
		{
			"no ids, no indexes",
			[]string{`{"function":{"name":"Read","arguments":"{\"a\":1}"}}`, `{"function":{"name":"Read","arguments":"{\"a\":1}"}}`, `{"function":{"name":"Write","arguments":""}}`, `{"function":{"arguments":"{}"}}`},
			calls{{Name: "Read", Arguments: a}, {Name: "Read", Arguments: a}, {Name: "Write", Arguments: "{}"}},
		},
		{"an index beats the newest", []string{`{"index":1,"id":"r","function":{"name":"Read","arguments":"{\"a\""}}`, `{"id":"w","function":{"name":"Write","arguments":"{\"b\":2}"}}`, `{"index":1,"function":{"arguments":":1}"}}`}, calls{read, write}},
		{"same name, arguments late", []string{`{"id":"r","function":{"name":"Read","arguments":""}}`, `{"function":{"name":"Read","arguments":"{\"a\":1}"}}`}, calls{read}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := readStream(strings.NewReader(data(chunksOf(test.pieces)...)))
			require.NoError(t, got.err)
			require.Equal(t, test.want, got.turn.Calls)
			requireReplayable(t, got.turn)
		})
	}
}

// TestCallPiecesRefused: where the call is not certain, no call starts.
func TestCallPiecesRefused(t *testing.T) {
	tests := map[string][]string{
		"arguments before any call":            {`{"index":0,"function":{"arguments":"{\"a\":1}"}}`},
		"arguments for an index not begun":     {`{"index":0,"id":"r","function":{"name":"Read","arguments":"{}"}}`, `{"index":1,"function":{"arguments":"{}"}}`},
		"no name":                              {`{"index":0,"id":"r","function":{"arguments":"{}"}}`},
		"another name amid arguments":          {`{"index":0,"id":"r","function":{"name":"Read","arguments":"{\"a\""}}`, `{"index":0,"id":"r","function":{"name":"Bash","arguments":":1}"}}`},
		"another name amid arguments, no keys": {`{"function":{"name":"Read","arguments":"{\"a\""}}`, `{"function":{"name":"Bash","arguments":":1}"}}`},
		"several ids, then a name":             {`{"index":0,"id":"r","function":{"name":"Read"}}`, `{"index":0,"id":"w"}`, `{"index":0,"function":{"name":"Write","arguments":"{}"}}`},
		"the whole call sent twice":            {`{"index":0,"id":"r","function":{"name":"Read","arguments":"{}"}}`, `{"index":0,"id":"r","function":{"name":"Read","arguments":"{}"}}`},
		"half a character in the arguments":    {`{"index":0,"id":"r","function":{"name":"Read","arguments":"\ud83d!"}}`},
		"half a character at their end":        {`{"index":0,"id":"r","function":{"name":"Read","arguments":"{\ud83d"}}`},
		"half a character in a name":           {`{"index":0,"id":"r","function":{"name":"\ud83d"}}`},
		"an index that is no integer":          {`{"index":0.5,"id":"r","function":{"name":"Read","arguments":"{}"}}`},
		"an id that is no string":              {`{"index":0,"id":7,"function":{"name":"Read","arguments":"{}"}}`},
		"a name that is no string":             {`{"index":0,"id":"r","function":{"name":["Read"],"arguments":"{}"}}`},
		"arguments named twice":                {`{"index":0,"id":"r","function":{"name":"Read","arguments":"{}","arguments":"{\"a\":1}"}}`},
		"an entry that is no object":           {`"Read"`},
	}
	for name, pieces := range tests {
		t.Run(name, func(t *testing.T) {
			got := readStream(strings.NewReader(data(chunksOf(pieces)...)))
			require.Equal(t, agent.CodeInvalidStream, got.code(t))
			requireReplayable(t, got.turn)
		})
	}
}

// chunksOf puts each entry of tool_calls into a chunk and ends the turn.
func chunksOf(pieces []string) []string {
	var chunks []string
	for _, p := range pieces {
		chunks = append(chunks, `{"choices":[{"delta":{"tool_calls":[`+p+`]}}]}`)
	}
	return append(chunks, `{"choices":[{"finish_reason":"stop"}]}`, `[DONE]`)
}

func TestTooManyCalls(t *testing.T) {
	pieces := strings.Repeat(`{"id":"c","index":null,"function":{"name":"T","arguments":"{}"}},`, maxCalls+1)
	got := readStream(strings.NewReader(data(chunksOf([]string{strings.TrimSuffix(pieces, ",")})...)))
	require.Equal(t, agent.CodeLimit, got.code(t))
}

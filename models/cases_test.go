package models

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

const casesDir = "testdata/cases"

// caseOutcome is what expect.json says of one stream. Absent members say
// nothing.
type caseOutcome struct {
	Text       *string     `json:"text"`
	Reasoning  *string     `json:"reasoning"`
	ToolCalls  *[]caseCall `json:"tool_calls"`
	Finish     *string     `json:"finish"`
	Executable *bool       `json:"executable"`
	// Error is a class in quotes, or null: there must be none.
	Error    jsontext.Value `json:"error"`
	Replayed *string        `json:"next_request.assistant.reasoning_content"`
}

type caseCall struct {
	ID              string  `json:"id"`
	Name            *string `json:"name"`
	Arguments       *string `json:"arguments"`
	ArgumentsLength *int    `json:"arguments_length"`
}

type caseExpect struct {
	caseOutcome

	Kind       string                 `json:"kind"`
	Assembled  *caseOutcome           `json:"assembled"`
	Files      map[string]caseOutcome `json:"files"`
	Usage      *caseUsage             `json:"usage"`
	Raw        *string                `json:"raw_arguments"`
	RawInAudit map[string]string      `json:"audit_raw_arguments"`
}

type caseUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

// TestCases reads every stream of the cases, in every way of delivery.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(casesDir + "/*/*.sse")
	require.NoError(t, err)
	require.Len(t, files, 28)
	for _, file := range files {
		dir, name := filepath.Split(file)
		var want caseExpect
		readJSON(t, &want, dir, "expect.json")
		if want.Kind != "stream" {
			continue // TestReusedIDs
		}
		stream := readFile(t, file)
		for way, read := range deliveries(t, stream) {
			t.Run(filepath.Base(dir)+"/"+name+"/"+way, func(t *testing.T) { want.check(t, name, read()) })
		}
	}
}

// TestCaseWrites serves the streams that say where their writes are cut.
func TestCaseWrites(t *testing.T) {
	files, err := filepath.Glob(casesDir + "/*/writes.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		dir := filepath.Dir(file)
		var want caseExpect
		var writes struct {
			Offsets []int `json:"split_at_byte_offsets"`
			Pause   int   `json:"pause_ms_between_writes"`
		}
		readJSON(t, &want, dir, "expect.json")
		readJSON(t, &writes, file)
		stream := readFile(t, dir, "stream.sse")
		pause := time.Duration(writes.Pause) * time.Millisecond
		got := ask(t.Context(), serve(t, writeInParts(stream, writes.Offsets, pause)))
		want.check(t, "stream.sse", got)
		require.NotContains(t, got.heard.text(), "\uFFFD")
	}
}

func (e caseExpect) check(t *testing.T, file string, got result) {
	t.Helper()
	e.caseOutcome.check(t, got)
	e.Files[file].check(t, got)
	if e.Assembled != nil {
		e.Assembled.check(t, got)
	}
	if e.Usage != nil {
		require.Equal(t, caseUsage{got.turn.Usage.PromptTokens, got.turn.Usage.CompletionTokens, got.turn.Usage.TotalTokens}, *e.Usage)
	}
	if e.Raw != nil {
		require.Equal(t, *e.Raw, got.turn.Calls[0].Arguments)
	}
	if raw, ok := e.RawInAudit[file]; ok {
		require.Equal(t, raw, got.turn.Calls[0].Arguments)
	}
}

func (o caseOutcome) check(t *testing.T, got result) {
	t.Helper()
	if o.Text != nil {
		require.Equal(t, *o.Text, got.turn.Text)
		require.Equal(t, *o.Text, got.heard.text())
	}
	if o.Reasoning != nil {
		require.Equal(t, *o.Reasoning, got.turn.Reasoning)
		require.Equal(t, *o.Reasoning, got.heard.reasoning())
	}
	if o.Finish != nil {
		require.Equal(t, *o.Finish, got.turn.Finish)
	}
	if o.Executable != nil {
		require.Equal(t, *o.Executable, executable(got))
	}
	if len(o.Error) > 0 {
		require.Equal(t, strings.Trim(strings.ReplaceAll(string(o.Error), "null", ""), `"`), errorClass(t, got))
	}
	if o.Replayed != nil {
		require.Contains(t, string(got.turn.Message), fmt.Sprintf(`"reasoning_content":%q`, *o.Replayed))
	}
	if o.ToolCalls != nil {
		checkCalls(t, *o.ToolCalls, got.turn.Calls)
	}
}

func checkCalls(t *testing.T, want []caseCall, got []agent.Call) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, w := range want {
		require.Equal(t, w.ID, got[i].ID)
		if w.Name != nil {
			require.Equal(t, *w.Name, got[i].Name)
		}
		if w.Arguments != nil {
			require.Equal(t, *w.Arguments, normalised(got[i].Arguments))
		}
		if w.ArgumentsLength != nil {
			require.Len(t, got[i].Arguments, *w.ArgumentsLength)
		}
	}
}

// normalised is what the caller makes of arguments that are not there.
func normalised(arguments string) string {
	if arguments == "" {
		return "{}"
	}
	return arguments
}

func validObject(arguments string) bool {
	v := jsontext.Value(normalised(arguments))
	return v.IsValid() && v.Kind() == '{'
}

// executable reports whether a call of the turn could run.
func executable(r result) bool {
	return r.err == nil && slices.ContainsFunc(r.turn.Calls, func(c agent.Call) bool { return validObject(c.Arguments) })
}

// errorClass is the turn's code, or "invalid_arguments" where the turn is whole
// and the caller has to refuse a call.
func errorClass(t *testing.T, r result) string {
	t.Helper()
	for _, c := range r.turn.Calls {
		if r.err == nil && !validObject(c.Arguments) {
			return "invalid_arguments"
		}
	}
	return r.code(t)
}

// Case 003: the pieces reach the client as they came.
func TestTextKeepsItsPieces(t *testing.T) {
	got := readStream(strings.NewReader(string(readFile(t, casesDir, "003-empty-tool-calls-array-on-text", "stream.sse"))))
	require.NoError(t, got.err)
	require.Equal(t, []string{"One ", "two ", "three."}, got.heard.texts())
}

// Case 025: an id says nothing beyond its turn.
func TestReusedIDs(t *testing.T) {
	commands := map[string]string{"turn1.sse": `{"command":"ls"}`, "turn2.sse": `{"command":"rm -r build"}`}
	for name, arguments := range commands {
		for way, read := range deliveries(t, readFile(t, casesDir, "025-same-id-across-turns", name)) {
			got := read()
			require.NoError(t, got.err, way)
			require.Equal(t, []agent.Call{{ID: "call_0", Name: "Bash", Arguments: arguments}}, got.turn.Calls, way)
		}
	}
}

// Case 022: longer and longer, and never a short success.
func TestLargeArguments(t *testing.T) {
	var larger struct {
		Bytes []int  `json:"also_try_content_bytes"`
		Build string `json:"build"`
	}
	readJSON(t, &larger, casesDir, "022-sse-line-longer-than-64k", "larger.json")
	for _, size := range append(larger.Bytes, 31<<20) {
		arguments := `{"content":"` + strings.Repeat("x", size) + `"}`
		got := ask(t.Context(), serve(t, writeInParts([]byte(callStream(arguments)), nil, 0)))
		require.NoError(t, got.err)
		require.Equal(t, arguments, got.turn.Calls[0].Arguments)
	}
}

// Case 096: arguments are whole.
func TestArgumentsAreWhole(t *testing.T) {
	var call struct {
		Arguments string `json:"arguments"`
	}
	readJSON(t, &call, casesDir, "096-no-silent-truncation-of-arguments", "call.json")
	got := readStream(strings.NewReader(callStream(call.Arguments)))
	require.NoError(t, got.err)
	require.Equal(t, call.Arguments, got.turn.Calls[0].Arguments)
	require.Len(t, got.turn.Calls[0].Arguments, 343)
}

// callStream is a turn of one call with these arguments.
func callStream(arguments string) string {
	quoted, _ := json.Marshal(arguments)
	return data(
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"Write","arguments":`+string(quoted)+`}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`)
}

package tools_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/tools"
)

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	b := newBench(t, func(o *tools.Options) { o.MaxResult = 300_000 })
	b.file("three", "one\ntwo\r\nthree")
	b.file("empty", "")
	b.file("bytes", "a\x00b\xff\xfe\n")
	b.file("long", long+"\n"+long+"\nend\n")
	for name, test := range map[string]struct {
		arguments, want string
		full            int64
	}{
		"whole":               {arguments: `{"path":"three"}`, want: "one\ntwo\r\nthree"},
		"from a line":         {arguments: `{"path":"three","offset":2}`, want: "two\r\nthree"},
		"some lines":          {arguments: `{"path":"three","limit":2}`, want: "one\ntwo\r\n"},
		"one line":            {arguments: `{"path":"three","offset":2,"limit":1}`, want: "two\r\n"},
		"integers spelt else": {arguments: `{"path":"three","offset":20e-1,"limit":1.0}`, want: "two\r\n"},
		"last line":           {arguments: `{"path":"three","offset":3,"limit":9}`, want: "three"},
		"limits at the edge":  {arguments: `{"path":"three","offset":2,"limit":9223372036854775807}`, want: "two\r\nthree"},
		"empty":               {arguments: `{"path":"empty"}`},
		"bytes as they are":   {arguments: `{"path":"bytes"}`, want: "a\x00b\xff\xfe\n"},
		"beyond the bound":    {arguments: `{"path":"long"}`, want: (long + "\n" + long)[:300_000], full: 400_006},
		"lines over a buffer": {arguments: `{"path":"long","offset":2,"limit":1}`, want: long + "\n"},
		"after a long line":   {arguments: `{"path":"long","offset":3}`, want: "end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := b.run("Read", test.arguments)
			require.NoError(t, err)
			require.Equal(t, test.want, string(out.Content))
			require.Equal(t, test.full, out.FullBytes)
		})
	}
	_, err := b.run("Read", `{"path":"three","offset":4}`)
	require.ErrorContains(t, err, "has 3 lines, there is no line 4")
}

func TestReadRefusesHugeFiles(t *testing.T) {
	b := newBench(t)
	b.file("huge", "")
	require.NoError(t, os.Truncate(b.path("huge"), 1<<40)) // sparse
	_, err := b.run("Read", args{"path": "huge"})
	require.ErrorIs(t, err, tools.ErrTooLarge)
	require.ErrorContains(t, err, "1099511627776 bytes, Read takes at most 67108864")
	_, err = b.run("Edit", args{"path": "huge", "old": "a", "new": "b"})
	require.ErrorIs(t, err, tools.ErrTooLarge)
}

func TestArgumentsAreDecodedStrictly(t *testing.T) {
	b := newBench(t)
	b.file("a", "text")
	for name, test := range map[string]struct{ tool, arguments, text string }{
		"empty":            {"Read", ``, `"path" is missing`},
		"null":             {"Read", `null`, `"path" is missing`},
		"null member":      {"Write", `{"path":"a","content":null}`, `"content" is missing`},
		"no content":       {"Write", `{"path":"a"}`, `"content" is missing`},
		"nothing":          {"Edit", `{}`, `"old" is missing`},
		"other case":       {"Read", `{"Path":"a"}`, "unknown"},
		"unknown member":   {"Write", `{"path":"a","content":"x","mode":1}`, "unknown"},
		"twice":            {"Write", `{"path":"b","path":"a","content":"x"}`, "duplicate"},
		"twice by escape":  {"Write", `{"path":"b","p\u0061th":"a","content":"x"}`, "duplicate"},
		"not JSON":         {"Read", `{path:"a"}`, "arguments"},
		"cut":              {"Read", `{"path":"a`, "arguments"},
		"two values":       {"Read", `{"path":"a"} {}`, "arguments"},
		"not an object":    {"Read", `["a"]`, "arguments"},
		"wrong type":       {"Read", `{"path":1}`, "arguments"},
		"not UTF-8":        {"Write", "{\"path\":\"a\",\"content\":\"\xff\"}", "UTF-8"},
		"lone surrogate":   {"Write", `{"path":"a","content":"\ud800"}`, "surrogate"},
		"negative offset":  {"Read", `{"path":"a","offset":-1}`, "count from 1"},
		"fraction":         {"Read", `{"path":"a","limit":1.5}`, "arguments"},
		"beyond 64 bits":   {"Read", `{"path":"a","limit":99999999999999999999}`, "arguments"},
		"other tool's":     {"Edit", `{"file":"a","old":"t","new":"x"}`, "unknown"},
		"offset of a part": {"Read", `{"path":"a","offset":1.5}`, "no integer"},
		"offset too large": {"Read", `{"path":"a","offset":1e30}`, "no integer of 64 bits"},
		"beyond memory":    {"Read", `{"path":"a","offset":1e9999999}`, "exponent"},
		"no command":       {"Bash", `{"timeout_ms":5}`, `"command" is missing`},
		"time-out of zero": {"Bash", `{"command":"true","timeout_ms":0}`, "from 1 to 600000"},
		"too long, spelt":  {"Bash", `{"command":"true","timeout_ms":6.1e5}`, "from 1 to 600000"},
		"too long a time":  {"Bash", `{"command":"true","timeout_ms":600001}`, "from 1 to 600000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.run(test.tool, test.arguments)
			require.ErrorIs(t, err, tools.ErrArguments)
			require.ErrorContains(t, err, test.text)
		})
	}
	require.Equal(t, "text", b.content("a"))
	require.NoFileExists(t, b.path("b"))
}

func TestNothingRunsUnderAnEndedContext(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, arguments := range map[string]string{
		"Read": `{"path":"a"}`, "Write": `{"path":"a","content":"x"}`,
		"Edit": `{"path":"a","old":"x","new":"y"}`, "Bash": `{"command":"touch a"}`,
	} {
		_, err := b.tools[tool].Run(ctx, []byte(arguments))
		require.ErrorIs(t, err, context.Canceled, tool)
	}
	require.NoFileExists(t, b.path("a"))
}

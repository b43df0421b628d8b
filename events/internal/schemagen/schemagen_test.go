package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

const packageDir = "../.."

func TestCommittedSchemasAreWhatTheGeneratorMakes(t *testing.T) {
	want, err := generate(packageDir)
	require.NoError(t, err)
	root := os.DirFS(filepath.Join(packageDir, "schema"))
	var committed []string
	require.NoError(t, fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			committed = append(committed, path)
		}
		return err
	}))
	for name, text := range want {
		got, err := fs.ReadFile(root, name)
		require.NoError(t, err, "run go generate ./events")
		require.Equal(t, string(text), string(got), "%s: run go generate ./events", name)
	}
	for _, name := range committed {
		require.Contains(t, want, name, "no type has this schema: run go generate ./events")
	}
}

// An enumeration is found by asking the decoder about constants, so a constant
// that a type has and its check has forgotten would be missing in silence.
func TestEnumerationsHaveEveryConstantOfTheirType(t *testing.T) {
	files, err := generate(packageDir)
	require.NoError(t, err)
	for _, tc := range []struct {
		file   string
		values []string
	}{
		{"tool_call/1.json", []string{"allow", "ask", "deny", "enforced", "cooperative", "observed", "skill", "mcp", "customer-json-schema", "unknown"}},
		{"decision/1.json", []string{"approve", "approve_and_modify", "decline", "human", "handler", "timeout", "delivery_failed", "executor_lost"}},
		{"tool_result/1.json", []string{"ok", "error", "declined", "expired", "cancelled", "stale", "ambiguous"}},
		{"tool_started/1.json", []string{"decision", "rule", "bypass", "standing_rule"}},
		{"run_finished/1.json", []string{"TOOL_CALLS", "STOP", "LENGTH", "returnDirect", "CANCELLED", "LIMIT", "ERROR"}},
		{"round_finished/1.json", []string{"calls", "text", "failed", "id", "arguments"}},
		{"revision/1.json", []string{"asks", "refused"}},
		{"access/1.json", []string{"ok", "refused"}},
		{"definition/1.json", []string{"policy", "tool", "tools", "prompt", "subagent", "skill", "configuration"}},
	} {
		for _, v := range tc.values {
			require.Contains(t, string(files[tc.file]), "\n", tc.file)
			require.Regexp(t, `(?m)^ +"`+v+`",?$`, string(files[tc.file]), tc.file)
		}
	}
}

func TestRunWritesAllFilesAndTakesOldOnesAway(t *testing.T) {
	dir := t.TempDir()
	sources, err := filepath.Glob(filepath.Join(packageDir, "*.go"))
	require.NoError(t, err)
	for _, path := range sources {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o600))
	}
	old := filepath.Join(dir, "schema", "gone", "1.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(old), 0o700))
	require.NoError(t, os.WriteFile(old, []byte("{}"), 0o600))

	require.NoError(t, run(dir))
	require.NoFileExists(t, old)
	written, err := filepath.Glob(filepath.Join(dir, "schema", "*", "*.json"))
	require.NoError(t, err)
	schemas := 1 // of the envelope
	for _, typ := range events.AllTypes() {
		schemas += typ.Version()
	}
	require.Len(t, written, schemas)
	require.ErrorIs(t, run(t.TempDir()), os.ErrNotExist)
}

func TestProbeReadsWhatTheDecoderAsks(t *testing.T) {
	ask := func(decodes func(string) bool) place {
		return place{sample: []byte(`{"m":"x"}`), ask: func(doc []byte) bool {
			s, ok := strings.CutPrefix(string(doc), `{"m":"`)
			return ok && decodes(strings.TrimSuffix(s, `"}`))
		}}
	}
	for _, tc := range []struct {
		name    string
		decodes func(string) bool
		want    schema
		fails   string
	}{
		{"a name", func(s string) bool { return s != "" && len(s) <= 256 }, schema{Type: "string", MinLength: 1, MaxLength: 256}, ""},
		{"a label", func(s string) bool { return len(s) <= 256 }, schema{Type: "string", MaxLength: 256}, ""},
		{"a digest", func(s string) bool { return len(s) == 64 }, schema{Type: "string", Pattern: "^[0-9a-f]{64}$"}, ""},
		{"an enumeration", func(s string) bool { return s == "b" || s == "c" }, schema{Type: "string", Enum: []string{"b", "c"}}, ""},
		{"no bound", func(string) bool { return true }, schema{}, "does not bound"},
		{"nothing fits", func(string) bool { return false }, schema{}, "no constant"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ask(tc.decodes).text("m", plain, nil, []string{"a", "b", "c"})
			if tc.fails != "" {
				require.ErrorContains(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, *got)
		})
	}
}

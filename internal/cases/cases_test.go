package cases_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/cases"
)

// The cases beside the tests pass as they are.
func TestCasesPass(t *testing.T) {
	t.Parallel()
	for _, r := range run(t, "testdata/cases") {
		require.Equal(t, cases.Pass, r.Outcome, r.String())
	}
}

// Steps that the cases beside the tests do not use.
func TestOwnCasesPass(t *testing.T) {
	t.Parallel()
	for _, r := range run(t, "testdata/own") {
		require.Equal(t, cases.Pass, r.Outcome, r.String())
	}
}

// What nobody judges is named, and never passes for judged.
func TestWhatIsNotJudgedIsSaid(t *testing.T) {
	for name, test := range map[string]struct {
		number string
		file   string
		path   string
		value  any
		want   string
	}{
		"a member":       {"036", "expect.json", "openai_roles", "x", "036 pass (judged: openai_roles_after_user; not judged: anthropic: the provider is not in this version; extra_user_content: a tool cannot say more than its result in this version; openai_roles)"},
		"an inner one":   {"001", "expect.json", "assembled|tool_calls|0|colour", "red", "001 pass (judged: text, finish, the number of tool calls, id, name, arguments, arguments in the log, arguments of the tool, executable, error; not judged: assembled.tool_calls.colour)"},
		"a kind":         {"001", "expect.json", "kind", "dance", "001 skip: kind dance is not judged; assembled; error; executable; provider"},
		"no kind":        {"001", "expect.json", "kind", "", "001 skip: expect.json has no kind; assembled; error; executable; provider"},
		"a provider":     {"001", "expect.json", "provider", "other", "001 skip: provider other is not in this version"},
		"a step":         {"034", "scenario.json", "steps|2", map[string]any{"op": "sing"}, `034 skip: not understood: step "sing"`},
		"a sentence":     {"034", "scenario.json", "steps|2", "wait a while", `034 skip: not understood: step "wait a while" is a sentence for people`},
		"part of a step": {"034", "scenario.json", "steps|1|loudly", true, `034 skip: not understood: "loudly" of step await_event`},
		"a policy":       {"034", "scenario.json", "policy|quorum", 2, `034 skip: not understood: "quorum" in the policy`},
		"a tool":         {"034", "scenario.json", "tools|Read|explodes", true, `034 skip: not understood: "explodes" of the tool "Read"`},
		"a turn":         {"034", "scenario.json", "model|0|audio", "x", `034 skip: not understood: "audio" in a turn of the model`},
		"subagents":      {"034", "scenario.json", "subagents", map[string]any{}, "034 skip: not understood: subagents are not in this version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runOne(t, test.number, func(dir string) { set(t, filepath.Join(dir, test.file), test.path, test.value) })
			require.Equal(t, test.want, got.String())
		})
	}
}

// A case that cannot be read does not pass.
func TestBrokenCasesFail(t *testing.T) {
	for name, test := range map[string]struct{ file, text, want string }{
		"expect.json":      {"expect.json", "{", "is not an object that can be read"},
		"a repeated name":  {"expect.json", `{"kind":"scenario","kind":"stream"}`, "duplicate"},
		"scenario.json":    {"scenario.json", "[]", "scenario.json"},
		"a wrong type":     {"expect.json", `{"kind":"scenario","not_executed":7}`, "not_executed cannot be read"},
		"a turn's file":    {"scenario.json", `{"model":["gone.sse"],"steps":[]}`, "gone.sse cannot be read"},
		"steps that hang":  {"scenario.json", `{"model":[{"text":"hi"}],"steps":[{"op":"chat_stream"},{"op":"await_event","type":"approval_request"}]}`, "ended without the event"},
		"a refused stream": {"scenario.json", `{"model":[],"steps":[{"op":"chat_stream","body":{"query":""}},{"op":"await_event","type":"token"}]}`, "status 400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runOne(t, "034", func(dir string) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, test.file), []byte(test.text), 0o600))
			})
			require.Equal(t, cases.Fail, got.Outcome, got.String())
			require.Contains(t, got.Note, test.want)
		})
	}
}

// An area that this version does not have is skipped, whatever its kind.
func TestAreasOfLaterVersions(t *testing.T) {
	for _, area := range []string{"mcp", "hook", "subagent", "stream-anthropic"} {
		got := runOne(t, "034", func(dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "case.md"), []byte("# 034\n\n- Area: "+area+"\n"), 0o600))
		})
		require.Equal(t, "034 skip: area "+area+" is not in this version", got.String())
	}
}

func TestFoldersWithoutCases(t *testing.T) {
	_, err := cases.Run(t.Context(), t.TempDir(), cases.Options{})
	require.ErrorContains(t, err, "holds no case")
	_, err = cases.Run(t.Context(), "no/such/folder", cases.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

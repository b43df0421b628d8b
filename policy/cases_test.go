package policy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/policy"
)

// casePolicy, caseCall and caseWant are the files of a folder of testdata,
// which restates a failure of another system.
type casePolicy struct {
	Required []string `json:"required_tools"`
	Allowed  []string `json:"allow"`
	Known    []string `json:"known_tools"`
}

type caseCall struct {
	Source   string `json:"source"`
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	ToolName string `json:"toolName"`
}

type caseWant struct {
	Gated          []int `json:"gated_lines"`
	GatedOrUnknown []int `json:"gated_or_unknown_lines"`
	NotAutoAllowed []int `json:"not_auto_allowed_lines"`
	UnknownTool    []int `json:"unknown_tool_lines"`
	NotBlocked     []int `json:"not_blocked_lines"`
}

func readCase[T any](t *testing.T, folder, name string) T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", folder, name))
	require.NoError(t, err)
	var v T
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

func readCalls(t *testing.T, folder string) []policy.Call {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", folder, "calls.jsonl"))
	require.NoError(t, err)
	var calls []policy.Call
	for line := range bytes.Lines(data) {
		var c caseCall
		require.NoError(t, json.Unmarshal(line, &c))
		if c.Source == "mcp" {
			calls = append(calls, mcp(c.Server, c.Tool))
		} else {
			calls = append(calls, builtin(c.Tool+c.ToolName))
		}
	}
	return calls
}

func TestCase053ConfiguredNameAndEffectiveName(t *testing.T) {
	rules := readCase[casePolicy](t, "053", "policy.json")
	want := readCase[caseWant](t, "053", "expect.json")
	calls := readCalls(t, "053")
	p := compile(t, policy.Config{RequiredTools: rules.Required, AllowedTools: rules.Allowed})

	for _, line := range want.Gated {
		v := p.Judge(calls[line-1])
		require.Equal(t, policy.Ask, v.Effect, "line %d", line)
		require.Equal(t, policy.RuleRequired, v.Rule, "line %d", line)
	}
	for _, line := range slices.Concat(want.GatedOrUnknown, want.NotAutoAllowed) {
		require.Equal(t, policy.Ask, p.Judge(calls[line-1]).Effect, "line %d", line)
	}
	require.Equal(t, []string{
		"required-tools: mcp__tracker__drop_board (did you mean plugin_x_tracker__drop_board?)",
		"allowed-tools: notify (did you mean evil__notify?)",
	}, p.Unmatched(calls))
}

func TestCase064LookAlikes(t *testing.T) {
	rules := readCase[casePolicy](t, "064", "policy.json")
	want := readCase[caseWant](t, "064", "expect.json")
	calls := readCalls(t, "064")

	// Even with everything else opened as wide as can be written.
	p := compile(t, policy.Config{RequiredTools: rules.Required, AllowedTools: append(rules.Known, "*", "????")})
	for _, line := range want.UnknownTool {
		require.Equal(t, policy.Ask, p.Judge(calls[line-1]).Effect, "line %d", line)
	}
	for _, line := range want.NotBlocked {
		require.Equal(t, policy.Allow, p.Judge(calls[line-1]).Effect, "line %d", line)
	}
}

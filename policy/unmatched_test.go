package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/policy"
)

func TestUnmatched(t *testing.T) {
	known := []policy.Call{
		builtin("Read"), builtin("Bash"), custom("Deploy"),
		mcp("plugin_x_tracker", "drop_board"), mcp("evil", "notify"), mcp("a__b", "odd"), mcp("fs", "we\u200bird"),
		mcp("evil", "*"), mcp("evil", strings.Repeat("_", 1<<20)+"Nothing"),
	}
	p := compile(t, policy.Config{
		RequiredTools: []string{"bash", "mcp__tracker__drop_board", "Wr*", "drop_board", "B\u0430sh"},
		AllowedTools:  []string{"notify", "deploy", "evil__*", "Read", "odd", "*", "x__*", "weird", "mcp__*"},
		DeniedTools:   []string{"Nothing", "NOTIFY"},
	})
	require.Equal(t, []string{
		`required-tools: "B\u0430sh"`,
		"required-tools: mcp__tracker__drop_board (did you mean plugin_x_tracker__drop_board?)",
		"required-tools: Wr*",
		"allowed-tools: deploy (did you mean Deploy?)",
		"allowed-tools: notify (did you mean evil__notify?)",
		"allowed-tools: odd",
		"allowed-tools: weird",
		"allowed-tools: mcp__*",
		"allowed-tools: x__*",
		"denied-tools: Nothing",
	}, p.Unmatched(known))
	require.Empty(t, compile(t, policy.Config{}).Unmatched(known))
	require.Equal(t, []string{"denied-tools: Bash"}, compile(t, policy.Config{DeniedTools: []string{"Bash"}}).Unmatched(nil))
}

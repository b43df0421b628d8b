package gate

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/policy"
)

// A panic of the schema checker or of the policy refuses the call, and takes
// nothing with it.
func TestAJudgeThatPanics(t *testing.T) {
	tool := &judgedTool{Tool: Tool{Name: "Broken"}} // without a schema and without a policy all breaks
	g := &Gate{logger: slog.New(slog.DiscardHandler), tools: map[string]*judgedTool{"Broken": tool}}
	require.ErrorIs(t, g.fits(tool, []byte(`{}`)), errUnchecked)
	require.Equal(t, policy.Deny, g.verdict(nil, tool).Effect)
	j := g.judge("Broken", []byte(`{}`))
	require.True(t, j.refused)
	require.Contains(t, j.why, "could not be checked")
}

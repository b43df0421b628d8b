package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/policy"
)

// Few letters, so that names and entries meet often.
var (
	entries   = rapid.StringMatching(`(mcp__)?([a-cA-C*?ä]{1,2}__)?[a-cA-C*?äß]{1,3}`)
	someNames = rapid.OneOf(
		rapid.StringMatching(`(mcp__)?([a-cA-C]{1,2}__){0,2}[a-cA-Cäß\x{200b} ａ]{0,3}`),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	sources = rapid.SampledFrom([]string{
		policy.SourceBuiltin, policy.SourceCustom, policy.SourceSkill, policy.SourceMCP, "", "elsewhere",
	})
	strength = map[policy.Effect]int{policy.Allow: 0, policy.Ask: 1, policy.Deny: 2}
)

func drawCall(t *rapid.T) policy.Call {
	c := policy.Call{Tool: someNames.Draw(t, "tool"), Source: sources.Draw(t, "source")}
	if c.Source == policy.SourceMCP || rapid.Bool().Draw(t, "with server") {
		c.Server = rapid.StringMatching(`[a-cä]{0,2}(__)?[a-c]?`).Draw(t, "server")
		prefix := rapid.SampledFrom([]string{"", c.Server + "__", "mcp__" + c.Server + "__"}).Draw(t, "prefix")
		c.Tool = prefix + c.Tool
	}
	return c
}

func drawList(t *rapid.T, label string) []string { return rapid.SliceOfN(entries, 0, 4).Draw(t, label) }

func drawConfig(t *rapid.T) policy.Config {
	return policy.Config{
		RequiredTools: drawList(t, "required"), AllowedTools: drawList(t, "allowed"), DeniedTools: drawList(t, "denied"),
		RequiredSet: rapid.Bool().Draw(t, "required set"),
	}
}

// shuffled draws another order of a list, with some entries written twice.
func shuffled(t *rapid.T, list []string) []string {
	twice := list
	if len(list) > 0 {
		twice = append(rapid.SliceOfN(rapid.SampledFrom(list), 0, 2).Draw(t, "again"), list...)
	}
	return rapid.Permutation(twice).Draw(t, "order")
}

func TestOrderAndRepetitionChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config, call := drawConfig(t), drawCall(t)
		other := config
		other.RequiredTools = shuffled(t, config.RequiredTools)
		other.AllowedTools = shuffled(t, config.AllowedTools)
		other.DeniedTools = shuffled(t, config.DeniedTools)
		a, b := compile(t, config), compile(t, other)
		require.Equal(t, a.Judge(call), b.Judge(call))
		require.Equal(t, a.Digest(), b.Digest())
	})
}

// With required-tools given: its first entry changes the defaults by design.
func TestMoreProtectionNeverWeakens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config, call := drawConfig(t), drawCall(t)
		config.RequiredSet = true
		more := config
		more.RequiredTools = append(drawList(t, "more required"), config.RequiredTools...)
		more.DeniedTools = append(drawList(t, "more denied"), config.DeniedTools...)
		before, after := compile(t, config).Judge(call), compile(t, more).Judge(call)
		require.GreaterOrEqual(t, strength[after.Effect], strength[before.Effect])
	})
}

func TestMoreAllowedNeverBeatsAnEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config, call := drawConfig(t), drawCall(t)
		before := compile(t, config).Judge(call)
		config.AllowedTools = append(config.AllowedTools, drawList(t, "more allowed")...)
		after := compile(t, config).Judge(call)
		require.LessOrEqual(t, strength[after.Effect], strength[before.Effect])
		if before.Rule != policy.RuleDefault {
			require.Equal(t, before.Effect, after.Effect)
		}
	})
}

func TestWhatAnEntryOpensItAlsoProtects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry, call := entries.Draw(t, "entry"), drawCall(t)
		if compile(t, policy.Config{AllowedTools: []string{entry}}).Judge(call).Rule != policy.RuleAllowed {
			return
		}
		require.Equal(t, policy.Ask, compile(t, policy.Config{RequiredTools: []string{entry}}).Judge(call).Effect)
		require.Equal(t, policy.Deny, compile(t, policy.Config{DeniedTools: []string{entry}}).Judge(call).Effect)
	})
}

func TestWhatIsFreeHasAReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config, call := drawConfig(t), drawCall(t)
		v := compile(t, config).Judge(call)
		require.NotEmpty(t, v.Rule)
		require.NotEmpty(t, v.Why)
		if v.Effect != policy.Allow {
			return
		}
		require.Equal(t, policy.Verdict{Effect: policy.Allow, Rule: v.Rule, Why: v.Why}, v)
		if call.Source == policy.SourceMCP || call.Server != "" {
			require.True(t, spellsOutServer(config.AllowedTools, call.Server), "nothing in %q names it", config.AllowedTools)
		}
	})
}

func spellsOutServer(entries []string, server string) bool {
	for _, e := range entries {
		if server != "" && strings.HasPrefix(strings.TrimPrefix(e, "mcp__"), server+"__") {
			return true
		}
	}
	return false
}

// A stranger's name must not be able to write the sentence above the buttons.
func TestWhyHoldsNothingOfTheCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := drawCall(t)
		mark := "\u2067<mark>"
		call.Tool += mark
		require.NotContains(t, compile(t, drawConfig(t)).Judge(call).Why, mark)
	})
}

package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/policy"
)

// house are tools that everybody has.
func house() []policy.Call {
	return []policy.Call{{Tool: "Read", Source: policy.SourceBuiltin}, {Tool: "Bash", Source: policy.SourceBuiltin}, {Tool: "deploy", Source: policy.SourceCustom}}
}

func TestCompare(t *testing.T) {
	asks := func(names ...string) policy.Config { return policy.Config{RequiredTools: names, RequiredSet: true} }
	for name, c := range map[string]struct {
		before, after policy.Config
		want          []string // with + before those that loosen
	}{
		"nothing":                              {asks("Bash"), asks("Bash"), nil},
		"another order":                        {asks("Bash", "Write"), asks("Write", "Bash"), nil},
		"a tool asks no more":                  {asks("Bash", "Write"), asks("Write"), []string{"+Bash: ask → allow", "+required-tools no longer names Bash"}},
		"a tool that nobody has":               {asks("Bash", "Gone"), asks("Bash"), []string{"+required-tools no longer names Gone"}},
		"a tool asks too":                      {asks("Bash"), asks("Bash", "deploy"), []string{"deploy: allow → ask", "required-tools names deploy"}},
		"a glob in place of names":             {asks("Bash", "deploy"), asks("Bash", "d*"), []string{"required-tools no longer names deploy", "required-tools names d*"}},
		"a narrower glob":                      {asks("Bash", "files__*"), asks("Bash", "files__w*"), []string{"+required-tools no longer names files__*", "required-tools names files__w*"}},
		"any letter is not any word":           {asks("Bash", "x*"), asks("Bash", "x?"), []string{"+required-tools no longer names x*", "required-tools names x?"}},
		"asks and now never runs":              {asks("Bash", "deploy"), policy.Config{RequiredTools: []string{"deploy"}, DeniedTools: []string{"BASH"}}, []string{"Bash: ask → deny", "denied-tools names BASH", "+required-tools no longer names Bash"}},
		"asks and now never runs, to the byte": {asks("Bash", "deploy"), policy.Config{RequiredTools: []string{"deploy"}, DeniedTools: []string{"Bash"}}, []string{"Bash: ask → deny", "denied-tools names Bash", "required-tools no longer names Bash"}},
		"never runs, and now asks":             {policy.Config{DeniedTools: []string{"Bash"}}, policy.Config{}, []string{"+Bash: deny → ask", "+denied-tools no longer names Bash"}},
		"free, but it asks all the same":       {asks("Bash"), policy.Config{RequiredTools: []string{"Bash"}, AllowedTools: []string{"Bash"}}, []string{"allowed-tools names Bash"}},
		"free":                                 {policy.Config{}, policy.Config{AllowedTools: []string{"deploy"}}, []string{"+deploy: ask → allow", "+allowed-tools names deploy"}},
		"free under a name of its own":         {policy.Config{AllowedTools: []string{"d*"}}, policy.Config{AllowedTools: []string{"d*", "deploy"}}, []string{"allowed-tools names deploy"}},
		"free on a server, by no glob of ours": {policy.Config{AllowedTools: []string{"f*"}}, policy.Config{AllowedTools: []string{"f*", "files__read"}}, []string{"+allowed-tools names files__read"}},
		"not free any more":                    {policy.Config{AllowedTools: []string{"deploy"}}, policy.Config{}, []string{"deploy: allow → ask", "allowed-tools no longer names deploy"}},
		"the rest is free":                     {policy.Config{}, asks(), []string{"+Bash: ask → allow", "+deploy: ask → allow", "+required-tools is given: built-in and configured tools that no entry names are free"}},
		"the rest asks":                        {asks("Bash"), policy.Config{}, []string{"deploy: allow → ask", "required-tools no longer names Bash", "required-tools is not given any more: tools that no entry names ask, but the built-in Read"}},
		"the rest asks, and Read is free":      {asks("Read"), policy.Config{}, []string{"+Read: ask → allow", "Bash: allow → ask", "deploy: allow → ask", "+required-tools no longer names Read", "required-tools is not given any more: tools that no entry names ask, but the built-in Read"}},
		"more time":                            {policy.Config{}, policy.Config{Timeout: time.Hour}, []string{"+timeout: 3m → 1h"}},
		"less time":                            {policy.Config{Timeout: time.Hour}, policy.Config{Timeout: 90 * time.Second}, []string{"timeout: 1h → 1m30s"}},
		"approvals stay good for longer":       {policy.Config{}, policy.Config{StartWithin: 10 * time.Minute}, []string{"+start-within: 5m → 10m"}},
	} {
		t.Run(name, func(t *testing.T) {
			changes := policy.Compare(compile(t, c.before), compile(t, c.after), house())
			var got []string
			for _, change := range changes {
				sign := ""
				if change.Loosens {
					sign = "+"
				}
				got = append(got, sign+change.Words)
			}
			require.Equal(t, c.want, got)
			require.Equal(t, slices.ContainsFunc(c.want, func(s string) bool { return s[0] == '+' }), policy.Loosens(changes))
		})
	}
}

// A change that is said not to loosen frees no call: whatever tools there are, the
// known ones or not.
func TestWhatIsSaidNotToLoosenFreesNothing(t *testing.T) {
	entry := rapid.SampledFrom([]string{"*", "?", "a", "A", "ab", "a*", "?b", "a?", "*b", "s__a", "s__*", "s__?", "mcp__s__a", "Read", "R*", "é", "é*", "a*b*", "**"})
	list := rapid.SliceOfN(entry, 0, 3)
	config := rapid.Custom(func(t *rapid.T) policy.Config {
		return policy.Config{
			RequiredTools: list.Draw(t, "required"), AllowedTools: list.Draw(t, "allowed"), DeniedTools: list.Draw(t, "denied"), RequiredSet: rapid.Bool().Draw(t, "set"),
		}
	})
	var calls []policy.Call
	for _, tool := range []string{"Read", "a", "A", "b", "ab", "aab", "é", "éa", "s__a", "s__b", "s__ab", "mcp__s__a", "x"} {
		for _, source := range []string{policy.SourceBuiltin, policy.SourceSkill, policy.SourceMCP, "other"} {
			call := policy.Call{Tool: tool, Source: source}
			if source == policy.SourceMCP {
				call.Server = "s"
			}
			calls = append(calls, call)
		}
	}
	order := []policy.Effect{policy.Allow, policy.Ask, policy.Deny}
	rapid.Check(t, func(t *rapid.T) {
		before, after := compile(t, config.Draw(t, "before")), compile(t, config.Draw(t, "after"))
		if policy.Loosens(policy.Compare(before, after, nil)) {
			return
		}
		for _, call := range calls {
			was, is := before.Judge(call).Effect, after.Judge(call).Effect
			require.GreaterOrEqual(t, slices.Index(order, is), slices.Index(order, was), "%+v: %s → %s", call, was, is)
		}
	})
}

package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/policy"
)

func compile(t require.TestingT, c policy.Config) *policy.Policy {
	p, err := policy.Compile(c)
	require.NoError(t, err)
	return p
}

func builtin(tool string) policy.Call {
	return policy.Call{Tool: tool, Source: policy.SourceBuiltin}
}

func custom(tool string) policy.Call {
	return policy.Call{Tool: tool, Source: policy.SourceCustom}
}

func skill(tool string) policy.Call {
	return policy.Call{Tool: tool, Source: policy.SourceSkill}
}

func mcp(server, tool string) policy.Call {
	return policy.Call{Tool: server + "__" + tool, Source: policy.SourceMCP, Server: server}
}

// verdicts is a table of calls under one policy. The want is effect and rule.
type verdicts []struct {
	call   policy.Call
	effect policy.Effect
	rule   string
}

func (table verdicts) check(t *testing.T, c policy.Config) {
	t.Helper()
	p := compile(t, c)
	for _, row := range table {
		v := p.Judge(row.call)
		require.Equalf(t, row.effect, v.Effect, "%+v: %s", row.call, v.Why)
		require.Equalf(t, row.rule, v.Rule, "%+v: %s", row.call, v.Why)
	}
}

func TestDefaultsWithoutRequiredTools(t *testing.T) {
	verdicts{
		{builtin("Read"), policy.Allow, "default"},
		{builtin("read"), policy.Ask, "default"},
		{builtin("Read\u200b"), policy.Ask, "default"},
		{builtin("Bash"), policy.Ask, "default"},
		{builtin(""), policy.Ask, "default"},
		{custom("Read"), policy.Ask, "default"},
		{custom("Deploy"), policy.Ask, "default"},
		{skill("Read"), policy.Ask, "default"},
		{mcp("files", "Read"), policy.Ask, "default"},
		{policy.Call{Tool: "Read"}, policy.Ask, "default"},
		{policy.Call{Tool: "Read", Source: policy.SourceBuiltin, Server: "files"}, policy.Ask, "default"},
	}.check(t, policy.Config{})
}

func TestDefaultsWithRequiredTools(t *testing.T) {
	verdicts{
		{builtin("Write"), policy.Ask, "required-tools"},
		{builtin("Read"), policy.Allow, "default"},
		{builtin("Bash"), policy.Allow, "default"},
		{custom("Deploy"), policy.Allow, "default"},
		{custom("B\u0430sh"), policy.Ask, "default"}, // Cyrillic a
		{custom("überweisen"), policy.Ask, "default"},
		{builtin(""), policy.Ask, "default"},
		{skill("pdf"), policy.Ask, "default"},
		{mcp("files", "read"), policy.Ask, "default"},
		{policy.Call{Tool: "Bash", Source: "elsewhere"}, policy.Ask, "default"},
	}.check(t, policy.Config{RequiredTools: []string{"Write"}})
}

func TestRequiredToolsGivenEmptyFreesWhatIsOurs(t *testing.T) {
	verdicts{
		{builtin("Bash"), policy.Allow, "default"},
		{custom("Deploy"), policy.Allow, "default"},
		{skill("pdf"), policy.Ask, "default"},
		{mcp("files", "read"), policy.Ask, "default"},
	}.check(t, policy.Config{RequiredSet: true})
}

func TestDenyBeatsAskBeatsAllow(t *testing.T) {
	verdicts{
		{builtin("Bash"), policy.Deny, "denied-tools"},
		{builtin("Write"), policy.Ask, "required-tools"},
		{builtin("Edit"), policy.Allow, "allowed-tools"},
		{mcp("files", "Bash"), policy.Deny, "denied-tools"},
		{mcp("files", "Write"), policy.Ask, "required-tools"},
		{mcp("files", "Edit"), policy.Allow, "allowed-tools"},
		{mcp("other", "Edit"), policy.Ask, "default"},
	}.check(t, policy.Config{
		DeniedTools:   []string{"Bash"},
		RequiredTools: []string{"Write", "Bash"},
		AllowedTools:  []string{"Edit", "Write", "Bash", "files__*"},
	})
}

func TestProtectingEntriesMatchWidely(t *testing.T) {
	for _, spelling := range []string{
		"Bash", "bash", "BASH", " Bash", "Bash\t", "\u00a0Bash\u3000", "Ba\u200bsh", "Bash\u202e",
		"Bash\x00", "Bash\xff", "Bash\ufe0f", "Ba\u00adsh", "Ｂａｓｈ", "Ba\u017fh",
	} {
		for _, call := range []policy.Call{
			builtin(spelling), custom(spelling), skill(spelling), mcp("fs", spelling), mcp("a__b", spelling),
			{Tool: spelling},
			{Tool: "mcp__fs__" + spelling, Source: policy.SourceMCP, Server: "fs"},
			{Tool: "mcp__fs__" + spelling},
			{Tool: spelling, Source: policy.SourceMCP, Server: "fs"},
		} {
			verdicts{{call, policy.Ask, "required-tools"}}.check(t, policy.Config{RequiredTools: []string{"Bash"}})
			verdicts{{call, policy.Ask, "required-tools"}}.check(t, policy.Config{RequiredTools: []string{"b?s*"}})
			verdicts{{call, policy.Deny, "denied-tools"}}.check(t, policy.Config{DeniedTools: []string{"Bash"}})
		}
	}
}

func TestProtectingEntryWithServerCoversThatServer(t *testing.T) {
	for _, entry := range []string{"fs__drop", "mcp__fs__drop", "FS__Drop", "fs__*", "mcp__fs__dr?p"} {
		verdicts{
			{mcp("fs", "drop"), policy.Deny, "denied-tools"},
			{mcp("hub", "fs__drop"), policy.Deny, "denied-tools"},
			{policy.Call{Tool: "mcp__fs__drop", Source: policy.SourceMCP, Server: "fs"}, policy.Deny, "denied-tools"},
			{policy.Call{Tool: "drop", Source: policy.SourceMCP, Server: "fs"}, policy.Deny, "denied-tools"},
			{mcp("other", "drop"), policy.Ask, "default"},
			{mcp("fs2", "drop"), policy.Ask, "default"},
			{builtin("drop"), policy.Allow, "default"},
		}.check(t, policy.Config{RequiredSet: true, DeniedTools: []string{entry}})
	}
}

func TestAllowedToolsMatchNarrowly(t *testing.T) {
	verdicts{
		{builtin("Bash"), policy.Allow, "allowed-tools"},
		{custom("get_x"), policy.Allow, "allowed-tools"},
		{skill("get_x"), policy.Allow, "allowed-tools"},
		{custom("größe"), policy.Allow, "allowed-tools"},
		{builtin("bash"), policy.Ask, "default"},
		{builtin(" Bash"), policy.Ask, "default"},
		{builtin("Ｂａｓｈ"), policy.Ask, "default"},
		{custom("Größe"), policy.Ask, "default"},
		{custom("get_\u0430"), policy.Ask, "default"},
		{custom("get_x\u200b"), policy.Ask, "default"},
		{mcp("fs", "Bash"), policy.Ask, "default"},
		{mcp("fs", "get_x"), policy.Ask, "default"},
		{policy.Call{Tool: "Bash", Source: policy.SourceMCP}, policy.Ask, "default"},
		{policy.Call{Tool: "Bash", Source: "elsewhere"}, policy.Ask, "default"},
	}.check(t, policy.Config{AllowedTools: []string{"Bash", "get_*", "größe"}})
}

func TestAllowedToolsNameTheServer(t *testing.T) {
	for _, entry := range []string{"files__read_*", "mcp__files__read_*"} {
		verdicts{
			{mcp("files", "read_text"), policy.Allow, "allowed-tools"},
			{policy.Call{Tool: "mcp__files__read_text", Source: policy.SourceMCP, Server: "files"}, policy.Allow, "allowed-tools"},
			{mcp("files", "write"), policy.Ask, "default"},
			{mcp("files", "READ_text"), policy.Ask, "default"},
			{mcp("files", "read_\u0430"), policy.Ask, "default"},
			{mcp("Files", "read_text"), policy.Ask, "default"},
			{mcp("evil", "files__read_text"), policy.Ask, "default"},
			{policy.Call{Tool: "files__read_text", Source: policy.SourceMCP, Server: "evil"}, policy.Ask, "default"},
			{policy.Call{Tool: "files__read_text", Source: policy.SourceMCP}, policy.Ask, "default"},
		}.check(t, policy.Config{AllowedTools: []string{entry}})
	}
}

func TestAllowedToolsThatDoNotSpellOutAServer(t *testing.T) {
	for _, entry := range []string{"*", "read", "*__read", "f*__read", "file?__read", "mcp__*", "fi*", "__read", "files__"} {
		verdicts{
			{mcp("files", "read"), policy.Ask, "default"},
			{mcp("mcp", "files__read"), policy.Ask, "default"},
			{mcp("", "read"), policy.Ask, "default"},
		}.check(t, policy.Config{AllowedTools: []string{entry}})
	}
}

// A server whose name holds a separator could be taken for a tool of another.
func TestAmbiguousServerNamesNeverOpen(t *testing.T) {
	verdicts{
		{mcp("a", "b__c"), policy.Allow, "allowed-tools"},
		{mcp("a__b", "c"), policy.Ask, "default"},
	}.check(t, policy.Config{AllowedTools: []string{"a__b__c", "a__b__*"}})
}

func TestNamesBeyondAnyEventAreDenied(t *testing.T) {
	long := strings.Repeat("_", 1<<20)
	verdicts{
		{builtin(strings.Repeat("a", 256)), policy.Allow, "allowed-tools"},
		{builtin(strings.Repeat("a", 257)), policy.Deny, "default"},
		{builtin(long), policy.Deny, "default"},
		{mcp("files", long), policy.Deny, "default"},
		{policy.Call{Tool: "x", Source: policy.SourceMCP, Server: long}, policy.Deny, "default"},
	}.check(t, policy.Config{AllowedTools: []string{"*"}})
}

func TestVerdictTerms(t *testing.T) {
	p := compile(t, policy.Config{
		RequiredTools: []string{"Wr*", "Write", "Écrire"}, AllowedTools: []string{"Read"}, DeniedTools: []string{"Bash"},
		Timeout: time.Second, StartWithin: time.Minute,
	})
	require.Equal(t, policy.Verdict{
		Effect: policy.Ask, Rule: "required-tools", Why: "required-tools names Write",
		Quorum: 1, Timeout: time.Second, StartWithin: time.Minute,
	}, p.Judge(builtin("Write")))
	require.Equal(t, policy.Verdict{
		Effect: policy.Ask, Rule: "default", Why: "tools of MCP servers ask unless allowed-tools names them with their server",
		Quorum: 1, Timeout: time.Second, StartWithin: time.Minute,
	}, p.Judge(mcp("files", "read")))
	require.Equal(t, policy.Verdict{Effect: policy.Allow, Rule: "allowed-tools", Why: "allowed-tools names Read"},
		p.Judge(builtin("Read")))
	require.Equal(t, policy.Verdict{Effect: policy.Deny, Rule: "denied-tools", Why: "denied-tools names Bash"},
		p.Judge(builtin("Bash")))
	require.Equal(t, "required-tools names Wr*", p.Judge(builtin("Wrap")).Why)
	require.Equal(t, `required-tools names "\u00c9crire"`, p.Judge(builtin("Écrire")).Why)
}

func BenchmarkJudge(b *testing.B) {
	p := compile(b, policy.Config{
		RequiredTools: []string{"Write", "Edit", "Bash", "delete_*"}, AllowedTools: []string{"files__read_*", "Read"},
		DeniedTools: []string{"drop_*", "mcp__prod__*"},
	})
	b.ReportAllocs()
	for b.Loop() {
		p.Judge(mcp("files", "read_text"))
	}
}

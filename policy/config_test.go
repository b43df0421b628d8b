package policy_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/policy"
)

func TestCompileRefuses(t *testing.T) {
	long := strings.Repeat("x", 257)
	for _, row := range []struct {
		config policy.Config
		want   string
	}{
		{policy.Config{RequiredTools: []string{"Write", ""}}, `required-tools: entry 2 "": is empty; write a tool's name or remove the line`},
		{policy.Config{AllowedTools: []string{" \t"}}, `allowed-tools: entry 1 " \t": is empty; write a tool's name or remove the line`},
		{policy.Config{DeniedTools: []string{" Bash"}}, `denied-tools: entry 1 " Bash": has space around it; remove it`},
		{policy.Config{DeniedTools: []string{long}}, `denied-tools: entry 1 "` + long + `": is longer than 256 bytes, so it matches no tool; shorten it`},
		{policy.Config{DeniedTools: []string{"Bash\xff"}}, `denied-tools: entry 1 "Bash\xff": is not valid UTF-8; save the file as UTF-8`},
		{policy.Config{AllowedTools: []string{"Bash(git:*)"}}, `allowed-tools: entry 1 "Bash(git:*)": '(' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{AllowedTools: []string{"[a-z]*"}}, `allowed-tools: entry 1 "[a-z]*": '[' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{AllowedTools: []string{"Write,Edit"}}, `allowed-tools: entry 1 "Write,Edit": ',' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{AllowedTools: []string{`a\*`}}, `allowed-tools: entry 1 "a\\*": '\\' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{AllowedTools: []string{"Ba\nsh"}}, `allowed-tools: entry 1 "Ba\nsh": '\n' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{AllowedTools: []string{"Ba\u200bsh"}}, `allowed-tools: entry 1 "Ba\u200bsh": '\u200b' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{AllowedTools: []string{"B\u202e"}}, `allowed-tools: entry 1 "B\u202e": '\u202e' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{AllowedTools: []string{"\uff0a"}}, `allowed-tools: entry 1 "\uff0a": '\uff0a' cannot stand here; an entry is a tool's name, or a glob of * and ?`},
		{policy.Config{Timeout: -time.Second}, `timeout: -1s: must be at least 1ms; leave it out for the default`},
		{policy.Config{Timeout: time.Microsecond}, `timeout: 1µs: must be at least 1ms; leave it out for the default`},
		{policy.Config{StartWithin: -1}, `start-within: -1ns: must be at least 1ms; leave it out for the default`},
	} {
		p, err := policy.Compile(row.config)
		require.EqualError(t, err, row.want)
		require.Nil(t, p)
	}
}

func TestCompileNamesEveryProblemWithItsPlace(t *testing.T) {
	_, err := policy.Compile(policy.Config{RequiredTools: []string{"ok", "not ok"}, DeniedTools: []string{""}, Timeout: -1})
	require.Len(t, strings.Split(err.Error(), "\n"), 3)
	var first *policy.ConfigError
	require.ErrorAs(t, err, &first)
	require.Equal(t, "required-tools", first.Key)
	require.Equal(t, 1, first.Index)
	require.Equal(t, "not ok", first.Value)
}

func TestSilenceIsNeverZero(t *testing.T) {
	v := compile(t, policy.Config{}).Judge(builtin("Bash"))
	require.Equal(t, policy.Ask, v.Effect)
	require.Equal(t, 3*time.Minute, v.Timeout)
	require.Equal(t, 5*time.Minute, v.StartWithin)
}

func TestDocument(t *testing.T) {
	for _, row := range []struct {
		config policy.Config
		want   string
	}{
		{
			policy.Config{},
			`{"allowed_tools":[],"denied_tools":[],"format":"countersign/policy/1","start_within":"5m0s","timeout":"3m0s"}`,
		},
		{
			policy.Config{RequiredSet: true},
			`{"allowed_tools":[],"denied_tools":[],"format":"countersign/policy/1","required_tools":[],"start_within":"5m0s","timeout":"3m0s"}`,
		},
		{
			policy.Config{
				RequiredTools: []string{"Write", "Bash", "Write", "B*"}, AllowedTools: []string{"größe"},
				DeniedTools: []string{"x"}, Timeout: time.Second, StartWithin: time.Hour,
			},
			`{"allowed_tools":["größe"],"denied_tools":["x"],"format":"countersign/policy/1","required_tools":["B*","Bash","Write"],"start_within":"1h0m0s","timeout":"1s"}`,
		},
	} {
		p := compile(t, row.config)
		require.Equal(t, row.want, string(p.Document()))
		sum := sha256.Sum256([]byte(row.want))
		require.Equal(t, hex.EncodeToString(sum[:]), p.Digest())
	}
}

func TestDocumentIsACopy(t *testing.T) {
	p := compile(t, policy.Config{})
	p.Document()[0] = 'x'
	require.Equal(t, byte('{'), p.Document()[0])
}

func TestSummary(t *testing.T) {
	for want, c := range map[string]policy.Config{
		"everything asks but Read": {},
		"Edit, Write ask":          {RequiredSet: true, RequiredTools: []string{"Write", "Edit"}},
		"Bash never run; of the others everything asks but Read": {DeniedTools: []string{"Bash"}},
		"Bash, Rm never run; of the others nothing asks":         {RequiredSet: true, DeniedTools: []string{"Rm", "Bash"}},
	} {
		p, err := policy.Compile(c)
		require.NoError(t, err)
		require.Equal(t, want, p.Summary())
	}
}

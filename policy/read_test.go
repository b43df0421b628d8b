package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/policy"
)

func TestReadJudgesAsThePolicyThatWroteIt(t *testing.T) {
	for name, c := range map[string]policy.Config{
		"defaults":            {},
		"nothing asks":        {RequiredSet: true},
		"lists":               {RequiredTools: []string{"Write", "Ba*"}, AllowedTools: []string{"files__read_*"}, DeniedTools: []string{"Drop"}},
		"durations":           {RequiredTools: []string{"Bash"}, Timeout: 90 * time.Second, StartWithin: 1500 * time.Millisecond},
		"letters of any kind": {RequiredTools: []string{"Ωmega"}, AllowedTools: []string{"Čti"}},
	} {
		t.Run(name, func(t *testing.T) {
			was, err := policy.Compile(c)
			require.NoError(t, err)
			now, err := policy.Read(was.Document())
			require.NoError(t, err)
			require.Equal(t, was.Digest(), now.Digest())
			for _, tool := range []string{"Read", "Write", "Bash", "Drop", "files__read_file", "files__write", "Ωmega", "Čti", "other"} {
				for _, source := range []string{policy.SourceBuiltin, policy.SourceCustom, policy.SourceMCP, "unknown"} {
					call := policy.Call{Tool: tool, Source: source}
					require.Equal(t, was.Judge(call), now.Judge(call), "%s from %s", tool, source)
				}
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Bash"}})
	require.NoError(t, err)
	good := string(p.Document())
	for name, text := range map[string]string{
		"nothing":             "",
		"no JSON":             "Bash",
		"another format":      strings.Replace(good, "policy/1", "policy/2", 1),
		"a member too many":   strings.Replace(good, "{", `{"when":"always",`, 1),
		"a repeated member":   strings.Replace(good, "{", `{"denied_tools":[],`, 1),
		"no duration":         strings.Replace(good, "3m0s", "soon", 1),
		"a bad entry":         strings.Replace(good, "Bash", "Bash(rm:*)", 1),
		"not canonical":       strings.Replace(good, "{", "{ ", 1),
		"a list out of order": strings.Replace(good, `["Bash"]`, `["Write","Bash"]`, 1),
		"something behind it": good + "{}",
	} {
		_, err := policy.Read([]byte(text))
		require.ErrorIs(t, err, policy.ErrDocument, name)
	}
}

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiffer(t *testing.T) {
	dir := t.TempDir()
	hash := func(digit byte) string {
		b := make([]byte, 64)
		for i := range b {
			b[i] = digit
		}
		return "auth: {tokens: [{name: ben, person: Ben, roles: [reviewer], sha256: \"" + string(b) + "\"}]}\n"
	}
	of := func(text string) Config {
		c, err := loadIn(t, dir, source{file: text + "log: {format: text}\n"})
		require.NoError(t, err)
		return c
	}
	for name, c := range map[string]struct {
		a, b string
		want []string
	}{
		"nothing":             {"addr: 127.0.0.1:0\n", "addr: 127.0.0.1:0\n", nil},
		"a value":             {"addr: 127.0.0.1:0\n", "", []string{"addr"}},
		"values further down": {"chat: {system: a, hitl: {timeout: 1m}}\n", "chat: {system: b, hitl: {timeout: 2m}}\n", []string{"chat.hitl.timeout", "chat.system"}},
		"a list":              {"chat: {hitl: {required-tools: [A]}}\n", "chat: {hitl: {required-tools: [A, B]}}\n", []string{"chat.hitl.required-tools"}},
		"a list that is gone": {"chat: {hitl: {required-tools: []}}\n", "", []string{"chat.hitl.required-tools"}},
		"a token's secret":    {hash('a'), hash('b'), []string{"auth.tokens"}},
		"all tokens":          {hash('a'), "", []string{"auth.tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, Differ(of(c.a), of(c.b)))
			require.ElementsMatch(t, c.want, Differ(of(c.b), of(c.a)))
		})
	}
}

package config

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPrintLoadsAgain(t *testing.T) {
	full, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	for name, file := range map[string]string{
		"defaults": "{}\n", "full": string(full), "empty required-tools": "chat: {hitl: {required-tools: []}}\n", "no tools": "tools: {builtin: []}\n", "no isolation": "tools: {isolation: none}\n",
	} {
		c, dir, err := load(t, source{file: file})
		require.NoError(t, err, name)
		var printed bytes.Buffer
		require.NoError(t, c.Print(&printed))
		require.NotContains(t, strings.ToLower(printed.String()), "9f86d081", "hashes are masked")
		again, err := loadIn(t, dir, source{file: printed.String()})
		require.NoError(t, err, "%s:\n%s", name, printed.String())
		require.Equal(t, string(c.Document()), string(again.Document()), name)
		require.Equal(t, c.Chat.HITL.RequiredSet, again.Chat.HITL.RequiredSet, name)
		for _, token := range again.Auth.Tokens {
			require.Empty(t, token.SHA256, "nobody holds a masked token")
		}
	}
}

func TestPrintKeepsAnyText(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		c := defaults(dir)
		c.origins = nil
		c.Chat.System = rapid.String().Draw(rt, "system")
		c.Chat.HITL.DeniedTools = rapid.SliceOfN(rapid.StringMatching(`[!-~]{1,12}`), 0, 3).Draw(rt, "denied")
		c.Chat.HITL.DeniedTools = distinct(c.Chat.HITL.DeniedTools)
		var printed bytes.Buffer
		require.NoError(rt, c.Print(&printed))
		again, err := parse("printed", dir+"/printed", printed.Bytes())
		require.NoError(rt, err, printed.String())
		require.Equal(rt, c.Chat.System, again.Chat.System)
		require.Equal(rt, string(c.Document()), string(again.Document()))
	})
}

func distinct(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, word := range words {
		if !seen[word] {
			out = append(out, word)
		}
		seen[word] = true
	}
	return out
}

func TestDocumentHasNoHash(t *testing.T) {
	c := defaults("/srv")
	c.Auth.Tokens = []Token{{Name: "ci", SHA256: strings.Repeat("ab", 32), Roles: []string{"agent"}}}
	want, err := os.ReadFile("testdata/document.json")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(want)), string(c.Document()), "to the byte: it is digested")
}

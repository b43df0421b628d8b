package visible_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/ui/visible"
)

func TestNameNotes(t *testing.T) {
	for name, want := range map[string]string{
		"Bash": "", "files__read_file": "", "B\u0430sh": "mixes letters of Cyrillic and Latin", "Read\u200b": "cannot be seen",
		"\uff22\uff41\uff53\uff48": "looks like \"Bash\"", "lesen\u00e4": "beyond ASCII",
	} {
		notes := visible.NameNotes(name)
		if want == "" {
			require.Empty(t, notes, name)
			continue
		}
		require.Len(t, notes, 1, name)
		require.Contains(t, notes[0].Text, want)
		require.True(t, notes[0].Warning)
	}
}

func TestHostNotes(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com/login":                  "",
		"https://ex\u0430mple.com/login":             "mixes letters of Cyrillic and Latin. It is xn--exmple-4nf.com",
		"https://xn--exmple-4nf.com/login":           "mixes letters",
		"curl https://user:pw@\u0430pple.com:8080/x": "mixes letters",
		"https://xn--mnchen-3ya.example/":            "reads m\u00fcnchen.example",
		"https://docs.example/\u202e":                "",
		`{"url":"https://good.example"}`:             "",
		`git clone ssh://b\u0430d.example`:           "",
	} {
		notes := visible.HostNotes([]byte(text))
		if want == "" {
			require.Empty(t, notes, text)
			continue
		}
		require.Len(t, notes, 1, text)
		require.Contains(t, notes[0].Text, want)
		require.True(t, notes[0].Warning)
	}
	neutral := visible.HostNotes([]byte("https://m\u00fcnchen.example/stra\u00dfe https://m\u00fcnchen.example"))
	require.Len(t, neutral, 1)
	require.False(t, neutral[0].Warning)
	require.Contains(t, neutral[0].Text, "xn--mnchen-3ya.example")
}

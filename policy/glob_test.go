package policy

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPattern(t *testing.T) {
	for _, row := range []struct {
		pattern  string
		match    []string
		mismatch []string
	}{
		{"Write", []string{"Write"}, []string{"write", "Writes", "", "Wri"}},
		{"*", []string{"", "a", "a/b", "größe"}, nil},
		{"?", []string{"a", "ö", "/"}, []string{"", "ab"}},
		{"read_*", []string{"read_", "read_a/b"}, []string{"read", "xread_a"}},
		{"*_all", []string{"_all", "a_all_all"}, []string{"_all_"}},
		{"a*b*c", []string{"abc", "axbxbxc"}, []string{"ab", "acb"}},
		{"**a", []string{"a", "ba"}, []string{"ab"}},
		{"a?*", []string{"ab", "abc"}, []string{"a"}},
	} {
		for _, name := range row.match {
			require.True(t, newPattern(row.pattern).matches(name), "%s on %s", row.pattern, name)
		}
		for _, name := range row.mismatch {
			require.False(t, newPattern(row.pattern).matches(name), "%s on %s", row.pattern, name)
		}
	}
}

func TestPatternIsItsRegularExpression(t *testing.T) {
	translate := strings.NewReplacer("*", "(?s:.*)", "?", "(?s:.)")
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[abö*?]{0,8}`).Draw(t, "glob")
		name := rapid.StringMatching(`[abö]{0,8}`).Draw(t, "name")
		want := regexp.MustCompile(`\A` + translate.Replace(glob) + `\z`).MatchString(name)
		require.Equal(t, want, newPattern(glob).matches(name))
	})
}

func TestFoldIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		require.Equal(t, fold(name), fold(fold(name)))
		require.Equal(t, fold(name), fold(" \u200b"+name+"\t"))
	})
}

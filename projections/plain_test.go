package projections

import (
	"bytes"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// What is taken for its own plain form is, for every character there is.
func TestPlainCharactersAreTheirOwnPlainForm(t *testing.T) {
	fold, plain := cases.Fold(), 0
	for r := range rune(unicode.MaxRune + 1) {
		b := utf8.AppendRune(nil, r)
		if isPlain(b) {
			plain++
			require.Equal(t, b, withoutControls(norm.NFKC.Bytes(fold.Bytes(norm.NFKC.Bytes(b)))), "U+%04X", r)
		}
	}
	require.Greater(t, plain, 100_000, "or it is of no use")
	for _, b := range []string{"", "\xff", "ab", "A", "ß", "ŉ", "Ａ", "\u0345", "\u007f", "e\u0301"} {
		require.False(t, isPlain([]byte(b)), "%q", b)
	}
}

// The kinds of ASCII, which are a table, are those of Unicode.
func TestKindsOfASCII(t *testing.T) {
	for c := range byte(utf8.RuneSelf) {
		want, r := charSign, rune(c)
		switch {
		case unicode.IsSpace(r):
			want = charSpace
		case unicode.IsLower(r) || unicode.IsDigit(r) || r == '_':
			want = charWord
		}
		require.Equal(t, want, kindOf(r), "%q", c)
	}
}

// A short term is found where the index has it as a gram, and nowhere else.
func TestShortTermsAreFoundAsTheyAreIndexed(t *testing.T) {
	for _, text := range []string{"", "rm", "rm -rf a", "form rm", "a", "aa a", "删除了", "x删", "é e", "a-b", "--", "a.b_c d", "_x x", "🚀a🚀"} {
		s := plain([]byte(text))
		for _, word := range []string{"rm", "a", "x", "-f", "删除", "删", "é", "e", "--", "a-", "-b", "🚀", "🚀a", "_x", "d"} {
			sought := term{text: plain([]byte(word)), short: true}
			at, found := sought.find(s)
			want, has := 0, false
			eachGram(s, func(g gram) bool {
				want, has = g.start, g.short && bytes.Equal(s[g.start:g.end], sought.text)
				return !has
			})
			require.Equal(t, has, found, "%q in %q", word, text)
			require.True(t, !has || want == at, "%q in %q", word, text)
		}
	}
}

// Wherever a term stands in a text, the text has the term's longer grams.
func TestLongGramsOfATermAreThoseOfTheText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		some := rapid.StringOfN(rapid.SampledFrom([]rune("aabcd_/. é删🚀")), 0, 60, -1)
		sought := rapid.StringOfN(rapid.SampledFrom([]rune("aabcd_/.é删🚀")), longGram+longWindow-1, 40, -1).Draw(r, "term")
		has := map[uint64]bool{}
		eachLongGram(plain([]byte(some.Draw(r, "before")+sought+some.Draw(r, "behind"))), func(key uint64) { has[key] = true })
		n := 0
		eachLongGram(plain([]byte(sought)), func(key uint64) {
			n++
			require.True(t, has[key])
		})
		require.Positive(t, n)
	})
}

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

// Grams of a text of any size are each once.
func TestGramsAreEachOnce(t *testing.T) {
	var g gramSet
	for _, size := range []int{0, 10, 5_000, 200_000, 30} {
		text := make([]byte, 0, size)
		for i := range size {
			text = append(text, byte('a'+i*i%26), byte('a'+i%17))
		}
		grams := bytes.Fields(g.append(nil, indexed{bytes: text}))
		seen := map[string]bool{}
		for _, one := range grams {
			if len(one) == longGram {
				continue // is there as often as it is picked
			}
			require.False(t, seen[string(one)], "%s", one)
			seen[string(one)] = true
		}
		eachGram(text, func(at gram) bool {
			require.True(t, seen[string(text[at.start:at.end])])
			return true
		})
	}
}

// Wherever a term stands in a text, the text has the term's longer grams.
func TestLongGramsOfATermAreThoseOfTheText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		some := rapid.StringOfN(rapid.SampledFrom([]rune("aabcd_/. é删🚀")), 0, 60, -1)
		sought := rapid.StringOfN(rapid.SampledFrom([]rune("aabcd_/.é删🚀")), longGram+longWindow-1, 40, -1).Draw(r, "term")
		has := map[string]bool{}
		eachLongGram(plain([]byte(some.Draw(r, "before")+sought+some.Draw(r, "behind"))), func(g []byte) { has[string(g)] = true })
		n := 0
		eachLongGram(plain([]byte(sought)), func(g []byte) {
			n++
			require.Equal(t, longGram, utf8.RuneCount(g))
			require.True(t, has[string(g)], "%q", g)
		})
		require.Positive(t, n)
	})
}

package visible_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/ui/visible"
)

// plain joins spans as a page shows them.
func plain(spans []visible.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Label())
	}
	return b.String()
}

func TestShow(t *testing.T) {
	for name, c := range map[string]struct {
		in, want   string
		hidden     int
		directions int
	}{
		"plain":             {"rm -rf ./build\n\tls", "rm -rf ./build\n\tls", 0, 0},
		"accents":           {"münchen straße 東京 مرحبا", "münchen straße 東京 مرحبا", 0, 0},
		"decomposed accent": {"mu\u0308nchen", "mu\u0308nchen", 0, 0},
		"override":          {"a\u202eb", "aU+202Eb", 1, 1},
		"isolates":          {"\u2066\u2069", "U+2066U+2069", 2, 2},
		"zero width":        {"Read\u200b", "ReadU+200B", 1, 0},
		"escape":            {"\x1b[2K", "U+001B[2K", 1, 0},
		"NUL run":           {"a\x00\x00\x00b", "aU+0000 ×3b", 3, 0},
		"C1":                {"\u009b31m", "U+009B31m", 1, 0},
		"carriage return":   {"a\r\nb", "aU+000D\nb", 1, 0},
		"no-break space":    {"a\u00a0b", "aU+00A0b", 1, 0},
		"tag letters":       {"\U000e0041", "U+E0041", 1, 0},
		"variation":         {"a\ufe0f", "aU+FE0F", 1, 0},
		"line separator":    {"a\u2028b", "aU+2028b", 1, 0},
		"braille blank":     {"\u2800", "U+2800", 1, 0},
		"hangul filler":     {"\u3164", "U+3164", 1, 0},
		"private":           {"\ue000", "U+E000", 1, 0},
		"bad UTF-8":         {"a\xff\xfeb", "a0xFF0xFEb", 2, 0},
		"cut UTF-8":         {"\xe2\x82", "0xE20x82", 2, 0},
		"surrogate bytes":   {"\xed\xa0\x80", "0xED0xA00x80", 3, 0},
		"mark over quote":   {"\"\u0338", "\"U+0338", 1, 0},
		"pile of marks":     {"a\u0301\u0301\u0301\u0301\u0301", "a\u0301\u0301\u0301U+0301 ×2", 2, 0},
		"the name itself":   {"U+202E", "U+202E", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := visible.Show([]byte(c.in), 1000, 0)
			require.Equal(t, c.want, plain(got.Head))
			require.Equal(t, c.hidden, got.Hidden)
			require.Equal(t, c.directions, got.Directions)
			require.True(t, got.Whole())
			require.Equal(t, c.in, string(visible.Bytes(got.Head)))
		})
	}
}

// forbidden reports whether a code point must never reach a page from a text of
// others.
func forbidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) || unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' ||
		unicode.Is(unicode.Zs, r) && r != ' ' || r == utf8.RuneError
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
			"a", strings.Repeat(" ", 41), "\n\n\n\n", "\r\n \t", "\u202e", "\u200b", "\x00", "\u0338", "\u0301", "\"", "\\u202e", "⟦", "⟧", "U+202E", "\n", "\xff", "\U000e0041", "\\",
		})), func(s []string) string { return strings.Join(s, "") }),
	)
}

func TestShownTextIsHarmlessAndCanBeTurnedBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := texts().Draw(t, "text")
		if strings.ContainsRune(in, utf8.RuneError) {
			in = strings.ToValidUTF8(strings.ReplaceAll(in, "\ufffd", ""), "\xff")
		}
		got := visible.Show([]byte(in), 1<<20, 0)
		require.Equal(t, in, string(visible.Bytes(got.Head)))
		require.NotContains(t, strings.Map(mark, plain(got.Head)), "!")
	})
}

func mark(r rune) rune {
	if forbidden(r) {
		return '!'
	}
	return max(r, 'a')
}

func TestLinesOfDifferentTextsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		if a != b {
			require.NotEqual(t, visible.String(a), visible.String(b))
		}
		require.NotContains(t, visible.String(a), "\n")
	})
}

func TestLongTextsHaveHeadAndTailAndSayWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Repeat(texts().Draw(t, "unit")+"x", 200)
		got := visible.Show([]byte(in), 100, 50)
		head, tail := visible.Bytes(got.Head), visible.Bytes(got.Tail)
		require.Equal(t, len(in), len(head)+len(tail)+got.Left)
		require.True(t, strings.HasPrefix(in, string(head)))
		require.True(t, strings.HasSuffix(in, string(tail)))
	})
}

func TestLine(t *testing.T) {
	require.Equal(t, "a↵bU+202E… +4 bytes", plain(visible.Line("a\nb\u202ecdef", 4)))
	require.Equal(t, "whole", plain(visible.Line("whole", 5)))
	require.Equal(t, "ab⟦U+200B⟧⟦U+27E6⟧", visible.String("ab\u200b⟦"))
}

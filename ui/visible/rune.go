package visible

import (
	"fmt"
	"strings"
	"unicode"
)

// Kind says in one or two words why a code point is not shown as itself.
type Kind string

// The kinds.
const (
	Control   Kind = "control character"
	Direction Kind = "direction control"
	Invisible Kind = "invisible character"
	Space     Kind = "unusual space"
	Private   Kind = "private or unassigned character"
	Mark      Kind = "stray combining mark"
	BadByte   Kind = "byte that is not UTF-8"
	Break     Kind = "line feed or tab" // in a text that is shown in one line
	Run       Kind = "long run of white space, as its length"
	Cut       Kind = "not shown here" // the end of a line that was cut
)

// maxMarks is how many combining marks in a row are ordinary.
const maxMarks = 3

// hidden returns why a code point is not shown as itself, "" where it is.
func hidden(r rune) Kind {
	switch {
	case r >= ' ' && r < 0x7f || r == '\n' || r == '\t':
		return ""
	case unicode.Is(unicode.Bidi_Control, r):
		return Direction
	case unicode.Is(unicode.Cc, r):
		return Control
	case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r == '\u2800':
		return Invisible
	case unicode.Is(unicode.Zs, r):
		return Space
	case !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S):
		return Private
	default:
		return ""
	}
}

// stray reports whether a combining mark would be drawn over something that is
// no letter, or in a pile.
func stray(r, before rune, marks int) bool {
	if !unicode.In(r, unicode.Mn, unicode.Me) {
		return false
	}
	return marks >= maxMarks || unicode.Is(unicode.Me, r) || !unicode.In(before, unicode.L, unicode.M, unicode.N)
}

// name is how a code point is written.
func name(r rune) string { return fmt.Sprintf("U+%04X", r) }

// badByte is how a byte outside UTF-8 is written.
func badByte(b byte) string { return fmt.Sprintf("0x%02X", b) }

// String writes a text of others in one line of plain text, for titles and
// logs. What is not shown as itself stands in ⟦ ⟧, and so do these two brackets,
// line feed and tab: different texts give different lines.
func String(s string) string {
	var b strings.Builder
	for _, span := range bare([]byte(s)) {
		if span.Kind != "" {
			writeBracketed(&b, span)
			continue
		}
		for _, r := range span.Text {
			if strings.ContainsRune("\n\t⟦⟧", r) {
				b.WriteString("⟦" + name(r) + "⟧")
				continue
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

func writeBracketed(b *strings.Builder, s Span) {
	for range s.Count {
		b.WriteString("⟦" + s.Text + "⟧")
	}
}

package projections

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// The index knows a text by its grams: every three characters that follow each
// other without a space, and every word of one or two, since that has no three:
// rm, -f, 删除. Letters and digits make whole words, since nobody wants every
// word with an r and an m in it; scripts that write no spaces are found
// anywhere. A space is in no term, so no gram goes across one.

// gram is up to three characters of a plain text.
type gram struct {
	start, end int    // in the text
	key        uint64 // its characters, 21 bits each; no two grams have the same
	short      bool   // it is a word of one or two characters
}

// eachGram calls f with every gram of a plain text, until f returns false.
func eachGram(s []byte, f func(gram) bool) {
	before := charSpace
	first := charAt(s, 0)
	second := charAt(s, first.n)
	for i := 0; first.n > 0; {
		third := charAt(s, i+first.n+second.n)
		if first.kind != charSpace {
			if second.kind != charSpace && third.kind != charSpace &&
				!f(gram{i, i + first.n + second.n + third.n, key(first.r, second.r, third.r), false}) {
				return
			}
			if !joined(before, first.kind) && !shortGrams(i, first, second, third, f) {
				return
			}
		}
		i += first.n
		before, first, second = first.kind, second, third
	}
}

// shortGrams calls f with the words of one and two characters that begin at a
// place.
func shortGrams(at int, first, second, third char, f func(gram) bool) bool {
	if !joined(first.kind, second.kind) && !f(gram{at, at + first.n, key(first.r, 0, 0), true}) {
		return false
	}
	return second.kind == charSpace || joined(second.kind, third.kind) ||
		f(gram{at, at + first.n + second.n, key(first.r, second.r, 0), true})
}

// key is unique, since no character of a plain text is 0.
func key(a, b, c rune) uint64 {
	return uint64(uint32(a)) | uint64(uint32(b))<<21 | uint64(uint32(c))<<42 //nolint:gosec // characters have 21 bits
}

// char is a character of a text, of n bytes; a space of none at its end.
type char struct {
	r    rune
	n    int
	kind charKind
}

// charKind is what a character does to grams.
type charKind uint8

const (
	charSpace charKind = iota
	charWord           // is part of a word that spaces or signs enclose
	charSign           // stands for itself: a sign, or of a script without spaces
)

func charAt(s []byte, i int) char {
	if i >= len(s) {
		return char{r: ' '}
	}
	if c := s[i]; c < utf8.RuneSelf {
		return char{rune(c), 1, kindOfASCII(c)}
	}
	r, n := utf8.DecodeRune(s[i:])
	return char{r, n, kindOf(r)}
}

// kindOfASCII takes no branch that a text makes hard to guess.
func kindOfASCII(c byte) charKind {
	const kinds = "\x02\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\x00\x02\x02" + // tab to carriage return
		"\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02" +
		"\x00\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02" + // space
		"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x02\x02\x02\x02\x02\x02" + // digits
		"\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02" +
		"\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x01" + // _
		"\x02\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // a to o
		"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x02\x02\x02\x02\x02" // p to z
	return charKind(kinds[c&0x7f])
}

func kindOf(r rune) charKind {
	switch {
	case r < utf8.RuneSelf:
		return kindOfASCII(byte(r)) //nolint:gosec // below 128
	case unicode.IsSpace(r):
		return charSpace
	case (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !spaceless(r):
		return charWord
	}
	return charSign
}

func isSpace(r rune) bool { return kindOf(r) == charSpace }

// joined reports whether two characters that follow each other are of one word.
func joined(a, b charKind) bool { return a == charWord && b == charWord }

// spaceless reports whether a character is of a script that writes no spaces
// between words.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// indexedShort reports whether the index has a word of one or two characters.
// Signs alone are everywhere: who looks for one reads the texts.
func indexedShort(s []byte) bool {
	return bytes.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || kindOf(r) == charWord })
}

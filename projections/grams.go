package projections

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// The index knows a text by its grams: every three characters that follow each
// other without a space, and every word of one or two, since that has no three:
// rm, -f, 删除. Letters and digits make whole words, since nobody wants every
// word with an r and an m in it; scripts that write no spaces are found
// anywhere. A text's grams are worked out here, each once, because a space is in
// no term, and what is asked for never needs not be kept.

// eachGram calls f with every gram of a plain text, and where it begins, until f
// returns false. short says that it is a word of one or two characters.
func eachGram(s string, f func(start int, gram string, short bool) bool) {
	before := ' '
	first, n := runeAt(s, 0)
	second, m := runeAt(s, n)
	for i := 0; n > 0; {
		third, k := runeAt(s, i+n+m)
		if !isSpace(first) {
			if !isSpace(second) && !isSpace(third) && !f(i, s[i:i+n+m+k], false) {
				return
			}
			if !joined(before, first) && !shortGrams(s[i:], i, first, second, third, n, m, f) {
				return
			}
		}
		i += n
		before, first, second, n, m = first, second, third, m, k
	}
}

// shortGrams calls f with the words of one and two characters that begin here.
func shortGrams(s string, at int, first, second, third rune, n, m int, f func(int, string, bool) bool) bool {
	if !joined(first, second) && !f(at, s[:n], true) {
		return false
	}
	return isSpace(second) || joined(second, third) || f(at, s[:n+m], true)
}

// runeAt is the character at i, or a space at the end.
func runeAt(s string, i int) (rune, int) {
	if i >= len(s) {
		return ' ', 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[i:])
}

func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || '\t' <= r && r <= '\r'
	}
	return unicode.IsSpace(r)
}

// joined reports whether two characters that follow each other are of one word.
func joined(a, b rune) bool { return ofWord(a) && ofWord(b) }

// ofWord reports whether a character is part of a word that spaces or signs
// enclose.
func ofWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !spaceless(r)
}

// spaceless reports whether a character is of a script that writes no spaces
// between words.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// indexedShort reports whether the index has a word of one or two characters.
// Signs alone are everywhere: who looks for one reads the texts.
func indexedShort(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || ofWord(rune(c)) {
			return true
		}
	}
	return false
}

// gramSet works out the grams of texts, one after the other.
type gramSet struct {
	out   []byte
	slots []gramSlot // open addressing; a power of two
	used  int
	round uint32 // what slots of the text of now bear
}

type gramSlot struct {
	a, b  uint64
	round uint32
}

// of returns the grams of a plain text, each once, as the index takes them. It
// is valid until the next call.
func (g *gramSet) of(s string) []byte {
	g.out, g.used = g.out[:0], 0
	if g.round++; g.slots == nil || g.round == 0 {
		g.slots, g.round = make([]gramSlot, 1<<12), 1
	}
	eachGram(s, func(_ int, gram string, short bool) bool {
		if (!short || indexedShort(gram)) && g.add(gram) {
			g.out = append(append(g.out, gram...), ' ')
		}
		return true
	})
	return g.out
}

// add notes a gram, and reports whether it is new.
func (g *gramSet) add(gram string) bool {
	var key [16]byte // three characters have at most twelve bytes
	copy(key[:15], gram)
	key[15] = byte(len(gram)) //nolint:gosec // at most 12
	return g.put(binary.LittleEndian.Uint64(key[:]), binary.LittleEndian.Uint64(key[8:]))
}

func (g *gramSet) put(a, b uint64) bool {
	mask := uint64(len(g.slots)) - 1
	h := (a ^ b*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		s := &g.slots[i]
		if s.round != g.round {
			*s = gramSlot{a, b, g.round}
			if g.used++; 2*g.used > len(g.slots) {
				g.grow()
			}
			return true
		}
		if s.a == a && s.b == b {
			return false
		}
	}
}

// grow doubles the room.
func (g *gramSet) grow() {
	old, round := g.slots, g.round
	g.slots, g.used = make([]gramSlot, 2*len(old)), 0
	for _, s := range old {
		if s.round == round {
			g.put(s.a, s.b)
		}
	}
}

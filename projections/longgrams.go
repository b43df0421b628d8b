package projections

// A text of a hundred kilobytes has nearly every gram of three characters, so
// that it would have to be read whatever is asked. Of long texts the index has
// longer grams too: out of every few that follow each other without a space, the
// one with the least hash. A term that is long enough has the same ones, wherever
// it stands.

const (
	longText   = 16 << 10 // bytes of a plain text from which on it has longer grams
	longGram   = 6        // characters
	longWindow = 5        // grams, out of which one is picked
)

// eachLongGram calls f with the number of each longer gram of a plain text that is
// picked.
func eachLongGram(s []byte, f func(gram uint64)) {
	var w window
	for i := 0; i < len(s); {
		c := charAt(s, i)
		if i += c.n; c.kind == charSpace {
			w.n = 0
		} else if g, ok := w.next(c.r); ok {
			f(numberOf(g.hash) | longNumber)
		}
	}
}

// window is the last few grams of a text.
type window struct {
	n      int // characters since the last space
	hash   uint64
	grams  [longWindow]windowGram // the last ones
	picked int                    // at of the one that was picked last
}

type windowGram struct {
	hash uint64
	at   int // which of the characters since the last space it begins with
}

// next adds a character. It returns the gram that is picked now; false where that
// is the one as before, or none.
func (w *window) next(r rune) (g windowGram, ok bool) {
	if w.n == 0 {
		w.picked = -1
	}
	w.n++
	w.hash = w.hash<<11 + uint64(uint32(r)) //nolint:gosec // a character; what was added six times before is shifted out
	first := w.n - longGram
	if first < 0 {
		return g, false
	}
	w.grams[first%longWindow] = windowGram{w.hash * 0x9e3779b97f4a7c15, first}
	if first < longWindow-1 {
		return g, false
	}
	g = w.grams[(first+1)%longWindow] // the oldest
	for i := range longWindow - 1 {
		if next := w.grams[(first+2+i)%longWindow]; next.hash < g.hash {
			g = next
		}
	}
	ok = g.at != w.picked
	w.picked = g.at
	return g, ok
}

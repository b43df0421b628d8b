package projections

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Which texts of a segment have a gram is a set of numbers below the count of
// its texts. It is stored in the shorter of two forms: the gaps between the
// numbers, or a bit for each text. A list of gaps is always shorter than the
// bits would be, which tells the two apart.

// errPostings: what is stored of the search index is none.
var errPostings = fmt.Errorf("%w: a part of the search index", errRow)

// bytesOfBits is how many bytes the bits of n texts take.
func bytesOfBits(n int) int { return (n + 7) / 8 }

// appendSet appends the stored form of a set that is given by its gaps.
func appendSet(out, gaps []byte, n int) []byte {
	size := bytesOfBits(n)
	if len(gaps) < size {
		return append(out, gaps...)
	}
	at := len(out)
	for range size {
		out = append(out, 0)
	}
	_ = eachGap(gaps, func(i int) { out[at+i/8] |= 1 << (i % 8) }) // they are our own
	return out
}

// eachGap calls f with the numbers of a list of gaps.
func eachGap(gaps []byte, f func(i int)) error {
	for next := 0; len(gaps) > 0; next++ {
		gap, n := binary.Uvarint(gaps)
		if n <= 0 || gap > maxTexts {
			return errPostings
		}
		next, gaps = next+int(gap), gaps[n:]
		f(next)
	}
	return nil
}

// maxTexts is far more texts than a segment has.
const maxTexts = 1 << 28

// eachOf calls f with the numbers of a stored set of n texts, in order.
func eachOf(stored []byte, n int, f func(i int)) (err error) {
	if len(stored) < bytesOfBits(n) {
		beyond := false
		err = eachGap(stored, func(i int) {
			if beyond = beyond || i >= n; !beyond {
				f(i)
			}
		})
		if beyond {
			return errPostings
		}
		return err
	}
	if len(stored) > bytesOfBits(n) {
		return errPostings
	}
	for at, b := range stored {
		for ; b != 0; b &= b - 1 {
			if i := 8*at + bits.TrailingZeros8(b); i < n {
				f(i)
			}
		}
	}
	return nil
}

// textSet is a set of texts in memory, a bit for each.
type textSet []byte

// fill makes it all n texts.
func (s textSet) fill(n int) textSet {
	s = s[:0]
	for range bytesOfBits(n) {
		s = append(s, 0xff)
	}
	return s
}

func (s textSet) has(i int) bool { return s[i/8]&(1<<(i%8)) != 0 }

// keep leaves in the set those that a stored one of n texts has too. room is a
// set to work in.
func (s textSet) keep(stored []byte, n int, room *textSet) error {
	if len(stored) == len(s) {
		for i, b := range stored {
			s[i] &= b
		}
		return nil
	}
	other := append((*room)[:0], s...)
	clear(other)
	*room = other
	err := eachOf(stored, n, func(i int) { other[i/8] |= 1 << (i % 8) })
	for i, b := range other {
		s[i] &= b
	}
	return err
}

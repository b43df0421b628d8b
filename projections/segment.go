package projections

import (
	"encoding/binary"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// The search index is a list of segments, each of which tells for some texts
// which of them have a gram: see grams.go. A text is in one segment with all its
// grams. A segment is written once; small ones are merged into larger ones, so
// that there are few (see merge.go). Texts have numbers in a segment, in the
// order in which they came.

// idsOfTexts stands in the place of a gram, with which texts the segment has: no
// gram has this number.
const idsOfTexts = 0

// numberOf is the number of a gram in segments, by its key or hash. Two may have
// the same: a text that the index names is held against the term.
func numberOf(key uint64) uint64 {
	const mix = 0x9e3779b97f4a7c15
	key *= mix
	key ^= key >> 32
	return max(key*mix>>(64-gramBits+1), 1)
}

// longNumber marks the numbers of longer grams.
const longNumber = 1 << (gramBits - 1)

// segment is a finished part of the search index on its way into the file.
type segment struct {
	segmentLine
	gramPages
}

// segmentLine is a row of table segments.
type segmentLine struct {
	late        bool // its texts came long after their calls
	texts       int
	postings    int   // its size: of each text one more than its grams
	first, last int64 // the least and greatest id of its texts
}

// levels are sizes of segments, each eight times the one before, in postings.
// Those of the last level are not merged any more.
const (
	leastLevel  = 4 << 10
	lastLevel   = 4
	mergeAtOnce = 8
)

func (l segmentLine) level() (level int) {
	for size := leastLevel; level < lastLevel && l.postings >= size; size *= mergeAtOnce {
		level++
	}
	return level
}

// insert stores the row of a segment, and returns its number, which is a free
// one: it must stay small.
func (l segmentLine) insert(conn *sqlite.Conn) (no int64, err error) {
	w := writer{conn}
	no, found, err := w.number(`SELECT no + 1 FROM segments s WHERE NOT EXISTS (SELECT 1 FROM segments WHERE no = s.no + 1)
		ORDER BY no LIMIT 1`)
	if !found {
		no = 1
	}
	if err != nil {
		return 0, err
	}
	return no, w.exec("INSERT INTO segments (no, level, late, texts, postings, first, last) VALUES (?, ?, ?, ?, ?, ?, ?)",
		no, l.level(), l.late, l.texts, l.postings, l.first, l.last)
}

func (s *segment) write(conn *sqlite.Conn) error {
	no, err := s.insert(conn)
	if err != nil {
		return err
	}
	return s.gramPages.write(conn, no)
}

// textIDs tells which texts a segment has, in the order of their numbers: each
// by the difference to the one before, twice, and one more where it is long.
type textIDs struct {
	bytes []byte
	last  int64
}

func (t *textIDs) add(id int64, long bool) {
	n := (id - t.last) << 1
	if long {
		n |= 1
	}
	t.bytes, t.last = binary.AppendVarint(t.bytes, n), id
}

// eachText calls f with the texts of a segment, in order, until it returns
// false.
func eachText(stored []byte, f func(id int64, long bool) bool) error {
	for id := int64(0); len(stored) > 0; {
		n, size := binary.Varint(stored)
		if size <= 0 {
			return errPostings
		}
		id, stored = id+n>>1, stored[size:]
		if !f(id, n&1 != 0) {
			break
		}
	}
	return nil
}

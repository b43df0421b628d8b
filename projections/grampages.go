package projections

import (
	"encoding/binary"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// What a segment has of its grams stands in pages, some hundred grams each, in
// the order of the grams: the difference to the gram before, how many bytes
// follow, and these. A row for each gram would take three times as long. The key
// of a page is the segment's number and, below, the first gram: an entry of a
// table whose inner pages hold numbers alone is found fast.

// gramPage is from how many bytes on a page is full: three are in one of SQLite's.
const gramPage = 1200

// gramBits is how many bits the number of a gram has.
const gramBits = 40

// pageKey is the key of a page.
func pageKey(segment int64, gram uint64) int64 { return segment<<gramBits | int64(gram) } //nolint:gosec // of so many bits

// gramPages are the pages of a segment.
type gramPages struct {
	bytes []byte
	pages []pageEnd
	gram  uint64 // the last one
}

// pageEnd is the first gram of a page, and where it ends in gramPages.bytes.
type pageEnd struct {
	gram uint64
	end  int
}

// begin begins a gram, beyond the last one; so many bytes follow.
func (p *gramPages) begin(gram uint64, size int) {
	n := len(p.pages)
	if n == 0 || p.pages[n-1].end-p.beginOf(n-1) >= gramPage {
		p.pages, p.gram = append(p.pages, pageEnd{gram: gram}), 0
		n++
	}
	p.bytes = binary.AppendUvarint(p.bytes, gram-p.gram)
	p.bytes = binary.AppendUvarint(p.bytes, uint64(size)) //nolint:gosec // a size
	p.gram, p.pages[n-1].end = gram, len(p.bytes)+size
}

// beginOf is where a page begins.
func (p *gramPages) beginOf(page int) int {
	if page == 0 {
		return 0
	}
	return p.pages[page-1].end
}

// addIDs adds which texts there are.
func (p *gramPages) addIDs(ids []byte) {
	p.begin(idsOfTexts, len(ids))
	p.bytes = append(p.bytes, ids...)
}

// addSet adds which of n texts have a gram.
func (p *gramPages) addSet(gram uint64, gaps []byte, n int) {
	p.begin(gram, min(len(gaps), bytesOfBits(n)))
	p.bytes = appendSet(p.bytes, gaps, n)
}

// write stores the pages of a segment.
func (p *gramPages) write(conn *sqlite.Conn, segment int64) error {
	for i, page := range p.pages {
		if err := conn.Exec("INSERT INTO grams (id, page) VALUES (?, ?)", pageKey(segment, page.gram), p.bytes[p.beginOf(i):page.end]); err != nil {
			return err
		}
	}
	return nil
}

// pageReader reads a page gram by gram.
type pageReader struct {
	page   []byte // what is left
	begun  bool
	gram   uint64
	stored []byte // what is stored of the gram
}

// next goes on to the next gram; false at the end.
func (r *pageReader) next() (more bool, err error) {
	if len(r.page) == 0 {
		return false, nil
	}
	step, n := binary.Uvarint(r.page)
	size, m := binary.Uvarint(r.page[max(n, 0):])
	if n <= 0 || m <= 0 || size > uint64(len(r.page[n+m:])) {
		return false, errPostings
	}
	if step == 0 && r.begun || step >= 1<<gramBits-r.gram {
		return false, errPostings
	}
	end := n + m + int(size) //nolint:gosec // bounded above
	r.gram, r.begun = r.gram+step, true
	r.stored, r.page = r.page[n+m:end], r.page[end:]
	return true, nil
}

// find returns what a page has of a gram; nil where it does not have it.
func find(page []byte, gram uint64) ([]byte, error) {
	r := pageReader{page: page}
	for {
		more, err := r.next()
		if err != nil || !more || r.gram > gram {
			return nil, err
		}
		if r.gram == gram {
			return r.stored, nil
		}
	}
}

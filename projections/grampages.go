package projections

import (
	"encoding/binary"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// What a segment has of its grams stands in pages, some hundred grams each, in
// the order of the grams: the difference to the gram before, how many bytes
// follow, and these. A row for each gram would take three times as long.

// gramPage is from how many bytes on a page is full.
const gramPage = 4000

// gramPages are the pages of a segment.
type gramPages struct {
	bytes []byte
	pages []pageEnd
	gram  int64 // the last one
}

// pageEnd is the first gram of a page, and where it ends in gramPages.bytes.
type pageEnd struct {
	gram int64
	end  int
}

// begin begins a gram, beyond the last one; so many bytes follow.
func (p *gramPages) begin(gram int64, size int) {
	n := len(p.pages)
	if n == 0 || p.pages[n-1].end-p.beginOf(n-1) >= gramPage {
		p.pages, p.gram = append(p.pages, pageEnd{gram: gram}), 0
		n++
	}
	p.bytes = binary.AppendUvarint(p.bytes, uint64(gram-p.gram)) //nolint:gosec // of both it is the same bits
	p.bytes = binary.AppendUvarint(p.bytes, uint64(size))        //nolint:gosec // a size
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
func (p *gramPages) addSet(gram int64, gaps []byte, n int) {
	p.begin(gram, min(len(gaps), bytesOfBits(n)))
	p.bytes = appendSet(p.bytes, gaps, n)
}

// write stores the pages of a segment.
func (p *gramPages) write(conn *sqlite.Conn, segment int64) error {
	for i, page := range p.pages {
		err := conn.Exec("INSERT INTO grams (segment, gram, page) VALUES (?, ?, ?)", segment, page.gram, p.bytes[p.beginOf(i):page.end])
		if err != nil {
			return err
		}
	}
	return nil
}

// pageReader reads a page gram by gram.
type pageReader struct {
	page   []byte // what is left
	begun  bool
	gram   int64
	stored []byte // what is stored of the gram
}

// next goes on to the next gram; false at the end.
func (r *pageReader) next() (more bool, err error) {
	if len(r.page) == 0 {
		return false, nil
	}
	step, n := binary.Uvarint(r.page)
	size, m := binary.Uvarint(r.page[max(n, 0):])
	if n <= 0 || m <= 0 || size > uint64(len(r.page)-n-m) {
		return false, errPostings
	}
	end, gram := n+m+int(size), r.gram+int64(step) //nolint:gosec // bounded above; the same bits
	if r.begun && gram <= r.gram {
		return false, errPostings
	}
	r.gram, r.begun = gram, true
	r.stored, r.page = r.page[n+m:end], r.page[end:]
	return true, nil
}

// find returns what a page has of a gram; nil where it does not have it.
func find(page []byte, gram int64) ([]byte, error) {
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

package projections

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// segmentBuilder makes a segment, text by text, in rooms that it keeps.
type segmentBuilder struct {
	segmentLine

	ids   textIDs
	slots []gramSlot // open addressing; a power of two
	grams []gramTexts
	bytes int // of the gaps
}

// gramSlot is where a gram is in segmentBuilder.grams.
type gramSlot struct {
	gram uint64 // 0: the slot is free
	at   uint32
	next uint32 // one more than the number of the last text that has it
}

// gramTexts are the texts that have a gram, by their gaps.
type gramTexts struct {
	gram uint64
	gaps []byte
}

const (
	fewestSlots = 1 << 10
	// keepGram is of how many bytes a gram must be for its room to be kept: what is
	// common in one segment is so in the next.
	keepGram = 4
	// A segment is full with so many texts, or so many bytes.
	fullTexts, fullBytes = 16 << 10, 4 << 20
)

func (b *segmentBuilder) full() bool { return b.texts >= fullTexts || b.bytes >= fullBytes }

// begin begins a text, whose grams follow.
func (b *segmentBuilder) begin(id int64, long bool) {
	if len(b.slots) == 0 {
		b.slots = make([]gramSlot, fewestSlots)
	}
	if b.texts == 0 {
		b.first, b.last = id, id
	}
	b.first, b.last = min(b.first, id), max(b.last, id)
	b.ids.add(id, long)
	b.texts++
	b.postings++
}

// add notes that the text that was begun last has a gram.
func (b *segmentBuilder) add(gram uint64) {
	s := b.slot(gram)
	if s.gram == 0 {
		s = b.newGram(s, gram)
	}
	if s.next == uint32(b.texts) { //nolint:gosec // a segment has few texts
		return
	}
	g := &b.grams[s.at]
	size := len(g.gaps)
	g.gaps = binary.AppendUvarint(g.gaps, uint64(uint32(b.texts)-s.next-1)) //nolint:gosec // as above
	b.bytes += len(g.gaps) - size
	b.postings++
	s.next = uint32(b.texts) //nolint:gosec // as above
}

// take moves the texts of another builder behind its own.
func (b *segmentBuilder) take(from *segmentBuilder) {
	_ = eachText(from.ids.bytes, func(id int64, long bool) bool { // they are our own
		b.begin(id, long)
		return true
	})
	before := uint32(b.texts - from.texts) //nolint:gosec // a segment has few texts
	for _, g := range from.grams {
		if len(g.gaps) == 0 {
			continue
		}
		s := b.slot(g.gram)
		if s.gram == 0 {
			s = b.newGram(s, g.gram)
		}
		into := &b.grams[s.at]
		size := len(into.gaps)
		first, n := binary.Uvarint(g.gaps)
		into.gaps = binary.AppendUvarint(into.gaps, first+uint64(before-s.next))
		into.gaps = append(into.gaps, g.gaps[n:]...)
		b.bytes += len(into.gaps) - size
		s.next = before + from.slot(g.gram).next
	}
	b.postings += from.postings - from.texts
	from.reset()
}

// slot is where a gram is, or would be.
func (b *segmentBuilder) slot(gram uint64) *gramSlot {
	mask := uint64(len(b.slots)) - 1
	for i := gram & mask; ; i = (i + 1) & mask { // a gram's number is a hash
		if s := &b.slots[i]; s.gram == gram || s.gram == 0 {
			return s
		}
	}
}

func (b *segmentBuilder) newGram(s *gramSlot, gram uint64) *gramSlot {
	if 2*len(b.grams) >= len(b.slots) {
		old := b.slots
		b.slots = make([]gramSlot, 2*len(old))
		for _, o := range old {
			if o.gram != 0 {
				*b.slot(o.gram) = o
			}
		}
		s = b.slot(gram)
	}
	*s = gramSlot{gram: gram, at: uint32(len(b.grams))} //nolint:gosec // there are few grams
	b.grams = append(b.grams, gramTexts{gram: gram})
	return s
}

// seal returns the segment, and begins another. room is what it is made in.
func (b *segmentBuilder) seal(room []byte) *segment {
	slices.SortFunc(b.grams, func(a, b gramTexts) int { return cmp.Compare(a.gram, b.gram) })
	s := &segment{segmentLine: b.segmentLine, gramPages: gramPages{bytes: room[:0]}}
	s.addIDs(b.ids.bytes)
	for _, g := range b.grams {
		if len(g.gaps) > 0 { // else its room is from the segment before
			s.addSet(g.gram, g.gaps, b.texts)
		}
	}
	b.reset()
	return s
}

func (b *segmentBuilder) reset() {
	b.segmentLine, b.ids, b.bytes = segmentLine{}, textIDs{bytes: b.ids.bytes[:0]}, 0
	b.grams = slices.DeleteFunc(b.grams, func(g gramTexts) bool { return len(g.gaps) < keepGram })
	clear(b.slots)
	for i := range b.grams {
		g := &b.grams[i]
		g.gaps = g.gaps[:0]
		*b.slot(g.gram) = gramSlot{gram: g.gram, at: uint32(i)}
	}
}

package projections

// indexer puts texts into segments. Those that come long after their call, as
// what people say to a request that waited, get segments of their own: otherwise
// each would be about the whole of the log, and a search looks at all that are
// about its part of it.
type indexer struct {
	group      segmentBuilder // the next texts of near
	near, late segmentBuilder
	plain      plainer
	text       []byte // the plain text of now
}

// groupTexts is how many texts are put together before they go to the others: the
// grams of so many stay in a processor's own cache.
const groupTexts = 256

// lateRows is after how many records a text is late.
const lateRows = 64 << 10

// add adds a text that came with a record up to row.
func (x *indexer) add(t indexed, row int64) {
	x.text = t.plain(&x.plain, x.text[:0])
	b := &x.group
	if t.id/textsOfCall+lateRows < row {
		b = &x.late
	}
	long := len(x.text) >= longText
	b.begin(t.id, long)
	eachGram(x.text, func(g gram) bool {
		if !g.short || indexedShort(x.text[g.start:g.end]) {
			b.add(numberOf(g.key))
		}
		return true
	})
	if long {
		eachLongGram(x.text, b.add)
	}
	if x.group.texts >= groupTexts || x.group.bytes >= fullBytes/8 {
		x.near.take(&x.group)
	}
}

func (x *indexer) full() bool { return x.near.full() || x.late.full() }

// seal returns what was added, as segments. room returns what they may be made
// in, or nil.
func (x *indexer) seal(room func() []byte) (all []*segment) {
	x.near.take(&x.group)
	for _, b := range []*segmentBuilder{&x.near, &x.late} {
		if b.texts > 0 {
			s := b.seal(room())
			s.late = b == &x.late
			all = append(all, s)
		}
	}
	return all
}

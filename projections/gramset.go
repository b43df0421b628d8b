package projections

import "math/bits"

// gramSet works out the grams of texts, one after the other, in rooms that it
// keeps.
type gramSet struct {
	plain plainer
	text  []byte   // the plain text of now
	keys  []uint64 // of its grams, each once
	room  []gramSlot
	slots []gramSlot // the begin of room: open addressing; a power of two
	round uint32     // what slots in use bear
}

type gramSlot struct {
	key   uint64
	round uint32
}

// fewestSlots is room for the grams of most texts.
const fewestSlots = 1 << 10

// append appends the grams of a text, each once, as the index takes them.
func (g *gramSet) append(out []byte, t indexed) []byte {
	g.text = t.plain(&g.plain, g.text[:0])
	g.keys = g.keys[:0]
	g.clear(max(fewestSlots, 1<<bits.Len(uint(len(g.text))))) // it has hardly more grams than bytes
	eachGram(g.text, func(at gram) bool {
		word := g.text[at.start:at.end]
		if (!at.short || indexedShort(word)) && g.add(at.key) {
			out = append(append(out, word...), ' ')
		}
		return true
	})
	if len(g.text) < longText {
		return append(out, shortText+" "...)
	}
	eachLongGram(g.text, func(long []byte) { out = append(append(out, long...), ' ') })
	return out
}

// clear empties the set, and gives it room.
func (g *gramSet) clear(slots int) {
	if g.round++; slots > len(g.room) || g.round == 0 {
		g.room, g.round = make([]gramSlot, slots), 1
	}
	g.slots = g.room[:slots]
}

// add notes a gram, and reports whether it is new.
func (g *gramSet) add(key uint64) bool {
	if !g.put(key) {
		return false
	}
	g.keys = append(g.keys, key)
	if 2*len(g.keys) > len(g.slots) {
		g.clear(2 * len(g.slots))
		for _, k := range g.keys {
			g.put(k)
		}
	}
	return true
}

func (g *gramSet) put(key uint64) bool {
	mask := uint64(len(g.slots)) - 1
	for i := key * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		s := &g.slots[i]
		if s.round != g.round {
			*s = gramSlot{key, g.round}
			return true
		}
		if s.key == key {
			return false
		}
	}
}

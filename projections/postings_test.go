package projections

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// gapsOf is a set of numbers, in order, as its gaps.
func gapsOf(numbers []int) (gaps []byte) {
	next := 0
	for _, n := range numbers {
		gaps = binary.AppendUvarint(gaps, uint64(n-next))
		next = n + 1
	}
	return gaps
}

// Sets of any size come back as they were stored, in no more than a bit for each
// text, and keep leaves what two have.
func TestStoredSets(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.SampledFrom([]int{1, 7, 8, 9, 100, 5000}).Draw(r, "texts")
		set := rapid.MapOfN(rapid.IntRange(0, n-1), rapid.Just(true), 1, n)
		a, b := set.Draw(r, "a"), set.Draw(r, "b")
		storedA := appendSet(nil, gapsOf(slices.Sorted(maps.Keys(a))), n)
		storedB := appendSet(nil, gapsOf(slices.Sorted(maps.Keys(b))), n)
		require.Equal(t, slices.Sorted(maps.Keys(a)), NumbersOf(t, storedA, n))
		require.LessOrEqual(t, len(storedA), bytesOfBits(n))

		var room, both textSet
		both = both.fill(n)
		require.NoError(t, both.keep(storedA, n, &room))
		require.NoError(t, both.keep(storedB, n, &room))
		for i := range n {
			require.Equal(t, a[i] && b[i], both.has(i), "%d", i)
		}
	})
}

// What is no set of so many texts is not taken for one.
func TestWhatIsNoStoredSet(t *testing.T) {
	for name, c := range map[string]struct {
		stored []byte
		n      int
	}{
		"a number beyond the texts": {[]byte{90}, 80},
		"beyond them by the second": {[]byte{70, 20}, 80},
		"a gap that is cut":         {[]byte{0x80}, 80},
		"a gap without end":         {slices.Repeat([]byte{0xff}, 11), 800},
		"a gap beyond any text":     {binary.AppendUvarint(nil, 1<<62), 800},
		"bits of too many texts":    {make([]byte, 11), 80},
		"of a segment of no texts":  {[]byte{1}, 0},
		"of one of less than none":  {[]byte{1}, -64},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, eachOf(c.stored, c.n, func(i int) { require.Less(t, i, c.n) }), errRow)
			var room, all textSet
			require.ErrorIs(t, all.fill(max(c.n, 0)).keep(c.stored, c.n, &room), errRow)
		})
	}
	require.ErrorIs(t, eachText([]byte{0x80}, func(int64, bool) bool { return true }), errRow)
}

// Texts come back in their order, whatever their ids are.
func TestStoredTexts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ids := rapid.SliceOf(rapid.Int64Range(0, 1<<60)).Draw(r, "ids")
		var stored textIDs
		for _, id := range ids {
			stored.add(id, id%3 == 0)
		}
		i := 0
		require.NoError(t, eachText(stored.bytes, func(id int64, long bool) bool {
			require.Equal(t, ids[i], id)
			require.Equal(t, id%3 == 0, long)
			i++
			return true
		}))
		require.Len(t, ids, i)
	})
}

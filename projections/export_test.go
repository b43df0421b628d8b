package projections

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// NumbersOf returns the numbers of a stored set of n texts.
func NumbersOf(t *testing.T, stored []byte, n int) (numbers []int) {
	t.Helper()
	require.NoError(t, eachOf(stored, n, func(i int) { numbers = append(numbers, i) }))
	return numbers
}

// GramsByText is what stands in the search index: of each text the grams, in
// order.
func GramsByText(t *testing.T, db *sqlite.DB) map[int64][]uint64 {
	t.Helper()
	found := map[int64][]uint64{}
	require.NoError(t, db.Raw(t.Context(), func(conn *sqlite.Conn) error {
		for _, late := range []bool{false, true} {
			for level := range lastLevel + 1 {
				segments, err := segmentsOf(conn, level, late)
				require.NoError(t, err)
				for _, s := range segments {
					s.addTo(t, found)
				}
			}
		}
		return nil
	}))
	for _, grams := range found {
		slices.Sort(grams)
	}
	return found
}

func (s *storedSegment) addTo(t *testing.T, found map[int64][]uint64) {
	t.Helper()
	var ids []int64
	numbers, postings := map[uint64][]int{}, 0
	require.NoError(t, s.start())
	for ; s.more; require.NoError(t, s.next()) {
		if s.gram != idsOfTexts {
			numbers[s.gram] = NumbersOf(t, s.stored, s.texts)
			continue
		}
		require.NoError(t, eachText(s.stored, func(id int64, _ bool) bool {
			require.NotContains(t, found, id, "it is in two segments")
			found[id], ids = nil, append(ids, id)
			return true
		}))
	}
	require.Len(t, ids, s.texts)
	require.Equal(t, s.first, slices.Min(ids))
	require.Equal(t, s.last, slices.Max(ids))
	for gram, has := range numbers {
		for _, i := range has {
			found[ids[i]] = append(found[ids[i]], gram)
			postings++
		}
	}
	require.Equal(t, s.postings, postings+len(ids))
}

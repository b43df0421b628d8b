package projections

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// However texts are put into segments and those merged, the index has of each
// text its grams and no others, and there are few segments.
func TestTheIndexHasTheGramsOfEachText(t *testing.T) {
	texts := rapid.Custom(func(r *rapid.T) string {
		some := rapid.StringOfN(rapid.SampledFrom([]rune("aab1 _-.é删除")), 0, 40, -1).Draw(r, "text")
		return strings.Repeat(some, rapid.SampledFrom([]int{1, 1, 1, 700}).Draw(r, "times")) // long ones too
	})
	rapid.Check(t, func(r *rapid.T) {
		db, err := openFile(t.Context(), "")
		require.NoError(t, err)
		defer db.Close()
		n, each := rapid.SampledFrom([]int{1, 20, 100, 3 * groupTexts}).Draw(r, "texts"), rapid.SampledFrom([]int{1, 7, 400}).Draw(r, "each")
		some := rapid.SliceOfN(texts, 1, 20).Draw(r, "some")
		var index indexer
		want := map[int64][]uint64{}
		for i := range n {
			text := indexed{id: int64(i*7%n) * textsOfCall, bytes: []byte(some[i%len(some)])}
			index.add(text, int64(i%5)*lateRows)
			want[text.id] = gramsOf(text)
			if i%each == 0 {
				writeIndex(t, db, &index)
			}
		}
		writeIndex(t, db, &index)
		require.Equal(t, want, GramsByText(t, db))
		var segments int
		require.NoError(t, db.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM segments").Scan(&segments))
		require.LessOrEqual(t, segments, 2*(lastLevel+1)*(mergeAtOnce-1))
	})
}

// gramsOf are the grams that a text should have in the index, in order.
func gramsOf(t indexed) (grams []uint64) {
	s := t.plain(&plainer{}, nil)
	eachGram(s, func(g gram) bool {
		if !g.short || indexedShort(s[g.start:g.end]) {
			grams = append(grams, numberOf(g.key))
		}
		return true
	})
	if len(s) >= longText {
		eachLongGram(s, func(gram uint64) { grams = append(grams, gram) })
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

// Segments keep the size of what is full, and levels follow from sizes.
func TestLevelsOfSegments(t *testing.T) {
	for postings, level := range map[int]int{
		0: 0, 1: 0, leastLevel - 1: 0, leastLevel: 1, 8*leastLevel - 1: 1, 8 * leastLevel: 2, 64 * leastLevel: 3, 512 * leastLevel: 4, 1 << 40: lastLevel,
	} {
		require.Equal(t, level, segmentLine{postings: postings}.level(), "%d", postings)
	}
}

// Segments that hold nonsense are not merged: the file is damaged.
func TestSegmentsThatAreDamagedAreNotMerged(t *testing.T) {
	for name, spoil := range map[string]string{
		"a page":            "UPDATE grams SET page = x'80'",
		"what page it is":   "UPDATE grams SET id = id + 1",
		"an empty page":     "UPDATE grams SET page = x''",
		"grams in disorder": "UPDATE grams SET page = CAST(page || x'0001ff' AS BLOB)",
		"a set":             "UPDATE grams SET page = CAST(page || x'7f0a80808080808080808080' AS BLOB)",
		"a page beyond":     "INSERT INTO grams (id, page) SELECT id + 1, page FROM grams",
		"texts":             "UPDATE grams SET page = x'000102'",
		"how many they are": "UPDATE segments SET texts = texts + 64",
		"less than none":    "UPDATE segments SET texts = -1",
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := indexOf(t, []string{"abc", "xyz", "abc", "xyz"})
			_, err := v.db.db.Write.ExecContext(t.Context(), spoil)
			require.NoError(t, err)
			require.ErrorIs(t, v.db.db.Raw(t.Context(), func(conn *sqlite.Conn) error {
				segments, err := segmentsOf(conn, 0, false)
				require.NoError(t, err)
				require.Len(t, segments, 2)
				return merge(conn, segments)
			}), errRow)
		})
	}
}

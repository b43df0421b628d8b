package projections

import (
	"database/sql/driver"
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
		require.Equal(t, want, stands(t, db))
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
			grams = append(grams, g.key)
		}
		return true
	})
	if len(s) >= longText {
		eachLongGram(s, func(key uint64) { grams = append(grams, key) })
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

// stands is what stands in the index, by text.
func stands(t *testing.T, db *sqlite.DB) map[int64][]uint64 {
	t.Helper()
	found, of := map[int64][]uint64{}, map[int64][]int64{}
	require.NoError(t, db.Raw(t.Context(), func(conn *sqlite.Conn) error {
		return conn.Each("SELECT s.no, s.texts, g.gram, g.texts FROM segments s JOIN grams g ON g.segment = s.no ORDER BY g.gram <> 0", func(row []driver.Value) error {
			var no, n, gram int64
			require.NoError(t, integers(row, &no, &n, &gram))
			stored, _ := row[3].([]byte)
			if gram == idsOfTexts {
				of[no] = TextsOf(t, stored)
				for _, id := range of[no] {
					require.NotContains(t, found, id, "it is in two segments")
					found[id] = nil
				}
				return nil
			}
			for _, i := range NumbersOf(t, stored, int(n)) {
				id := of[no][i]
				found[id] = append(found[id], uint64(gram))
			}
			return nil
		})
	}))
	for _, grams := range found {
		slices.Sort(grams)
	}
	return found
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
		"a set":             "UPDATE grams SET texts = x'808080' WHERE gram <> 0",
		"the texts":         "UPDATE grams SET texts = x'80' WHERE gram = 0",
		"how many they are": "UPDATE segments SET texts = -1",
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := indexOf(t, []string{"abc", "xyz", "abc", "xyz"})
			_, err := v.db.db.Write.ExecContext(t.Context(), spoil)
			require.NoError(t, err)
			require.ErrorIs(t, v.db.db.Raw(t.Context(), func(conn *sqlite.Conn) error {
				nos, err := segmentsOf(conn, 0, false)
				require.NoError(t, err)
				return merge(conn, nos)
			}), errRow)
		})
	}
}

package projections

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// However little of the index a page may ask for, the pages of a search find all
// that the index has, each call once, the newest first, and every page comes
// further back.
func TestSearchFindsAllWithLittleWorkAPage(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(r, "calls")
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"", "abc", "xyz", "abc xyz"}), 2*n, 2*n).Draw(r, "texts")
		v, want := indexOf(t, words)
		terms, err := termsOf("abc xyz")
		require.NoError(t, err)
		var found []int64
		var from events.Position
		for end := false; !end; {
			a, err := v.alongText(t.Context(), Filter{Reader: Everything()}, terms, from)
			require.NoError(t, err)
			a.budget = &askBudget{asks: rapid.IntRange(0, 3).Draw(r, "asks"), left: time.Hour}
			for _, f := range a.finders {
				f.stretch = rapid.Int64Range(1, 9).Draw(r, "stretch")
			}
			var calls []looked
			calls, end, err = a.next(t.Context(), rapid.IntRange(1, 4).Draw(r, "page"))
			require.NoError(t, err)
			require.True(t, end || len(calls) > 0 && (from == events.Position{} || calls[len(calls)-1].at.Compare(from) < 0), "it comes no further than %v", from)
			for _, c := range calls {
				if c.ok {
					found = append(found, c.row)
				}
				from = c.at
			}
		}
		require.Equal(t, want, found)
	})
}

// indexOf makes views of calls with two texts each, and tells in which of them
// both words stand, the newest first.
func indexOf(t *testing.T, words []string) (v *Views, both []int64) {
	t.Helper()
	db, err := openFile(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	var index indexer
	for i := 0; i < len(words); i += 2 {
		row := int64(i/2 + 1)
		_, err := db.Write.ExecContext(t.Context(), `INSERT INTO calls (row, log_time, part, off, session, batch, idx, tool, agent, rule, state, asker, decider, approved, request, doc)
			VALUES (?, ?, 0, ?, 's', 'b', 0, 'T', 'a', '', 'ok', '', '', 0, '', '{}')`, row, row, row)
		require.NoError(t, err)
		index.add(indexed{id: idOfText(row, 0), bytes: []byte(words[i])}, row)
		index.add(indexed{id: idOfText(row, 1), bytes: []byte(words[i+1])}, row+row%3*lateRows)
		if row%5 != 0 {
			writeIndex(t, db, &index)
		}
		all := words[i] + " " + words[i+1]
		if termIn(all, "abc") && termIn(all, "xyz") {
			both = append([]int64{row}, both...)
		}
	}
	writeIndex(t, db, &index)
	return &Views{db: &current{db: db}}, both
}

func writeIndex(t *testing.T, db *sqlite.DB, index *indexer) {
	t.Helper()
	require.NoError(t, db.Raw(t.Context(), func(conn *sqlite.Conn) error {
		for _, s := range index.seal(func() []byte { return nil }) {
			if err := s.write(conn); err != nil {
				return err
			}
		}
		return mergeAll(conn)
	}))
}

func termIn(text, word string) bool {
	_, found := term{text: []byte(word)}.find([]byte(text))
	return found
}

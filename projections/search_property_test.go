package projections_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// Whatever stands in calls and is asked for, a search finds the calls that have
// all terms somewhere in arguments and result, each once, the newest first, over
// pages of any size, in views that were followed or built.
func TestSearchFindsWhatReadingWouldFind(t *testing.T) {
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("aab1 _-.é删除")), 0, 30, -1)
	terms := rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom([]rune("aab1_-.é删除")), 3, 6, -1),
		rapid.StringOfN(rapid.SampledFrom([]rune("删除")), 1, 2, -1),
	)
	rapid.Check(t, func(r *rapid.T) {
		l := pt.NewLog(t)
		run := l.Run("s1", "carla", "~")
		var calls []string // arguments and result, apart
		for i := range rapid.IntRange(1, 12).Draw(r, "calls") {
			arguments, result := texts.Draw(r, "arguments"), texts.Draw(r, "result")
			c := l.Propose("s1", run, "b1", i, "~", arguments, events.EffectAllow)
			l.Start(c, nil, "")
			l.Result(c, events.StatusOK, events.CausePolicy, result)
			calls = append(calls, arguments+"\x1f"+result)
		}
		v, err := projections.Open(t.Context(), projections.Options{Source: l})
		require.NoError(t, err)
		defer v.Close()
		if rapid.Bool().Draw(r, "built") {
			require.NoError(t, v.Rebuild(t.Context()))
		} else {
			follow(t, v, l.Len())
		}
		for range 5 {
			query := rapid.SliceOfN(terms, 1, 3).Draw(r, "query")
			f := all(projections.Filter{Query: strings.Join(query, " ")})
			require.Equal(t, reading(calls, query), indexesOf(t, v, f, rapid.IntRange(1, 5).Draw(r, "page")), "%q in %q", query, calls)
		}
	})
}

// reading is what reading the calls finds.
func reading(calls, terms []string) (indexes []int) {
	for i, c := range slices.Backward(calls) {
		if !slices.ContainsFunc(terms, func(t string) bool { return !strings.Contains(c, t) }) {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// indexesOf is a whole history, by the calls' indexes.
func indexesOf(t *testing.T, v *projections.Views, f projections.Filter, limit int) (indexes []int) {
	t.Helper()
	for cursor := ""; ; {
		page, err := v.History(t.Context(), f, cursor, limit)
		require.NoError(t, err)
		for _, c := range page.Items {
			indexes = append(indexes, c.Index)
		}
		if cursor = page.Next; cursor == "" {
			return indexes
		}
	}
}

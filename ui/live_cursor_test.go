package ui

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// What is written is read back; nothing else is read.
func TestCursorsAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.MapOf(rapid.Uint32Range(0, 9), rapid.Uint64Range(1, 1<<61)).Draw(t, "sizes")
		c := cursor{sizes: sizes}
		for p, size := range sizes {
			c.at = events.Position{LogTime: rapid.Int64Range(1, 1<<60).Draw(t, "time"), Partition: p, Offset: size - 1}
			break
		}
		got, err := parseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, c, got)
	})
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[0-9_-]{0,40}|[0-9]{1,3}-[0-9]-[0-9]{1,3}(_[0-9]-[0-9]{1,3}){0,3}`).Draw(t, "text")
		if c, err := parseCursor(s); err == nil {
			require.Equal(t, s, c.String())
		}
	})
}

// spread is a log of three partitions, whose records come in some order.
func spread(t *rapid.T, n int) []projections.Notice {
	next := map[uint32]uint64{}
	var all []projections.Notice
	for i := range n {
		p := rapid.Uint32Range(0, 2).Draw(t, "partition")
		all = append(all, projections.Notice{
			Row: int64(i + 1), At: events.Position{LogTime: int64(100 + i), Partition: p, Offset: next[p]}, Kind: projections.NoticeSystem,
		})
		next[p]++
	}
	return all
}

// Whatever the partitions, and whichever node has handed out the place: after it
// comes each record that it does not cover, once, and no other.
func TestAPlaceOverPartitionsMissesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := spread(t, rapid.IntRange(1, 30).Draw(t, "records"))
		tail := newTail(nil, 1000, nil, nil)
		tail.frames, tail.end = frames(edge{cursor: cursor{sizes: map[uint32]uint64{}}}, all)
		// Another node has the same partitions in another order, up to somewhere.
		known, at := map[events.Position]bool{}, edge{cursor: cursor{sizes: map[uint32]uint64{}}}
		for range rapid.IntRange(0, len(all)).Draw(t, "known") {
			var ready []projections.Notice
			for _, n := range all {
				if n.At.Offset == at.sizes[n.At.Partition] {
					ready = append(ready, n)
				}
			}
			n := rapid.SampledFrom(ready).Draw(t, "next")
			known[n.At] = true
			at.pass(n.At, n.Row)
		}
		c, err := parseCursor(at.String())
		require.NoError(t, err)
		number, ok, _ := tail.look(c)
		require.True(t, ok)
		found, _, _, lost := tail.since(number)
		require.False(t, lost)
		for _, f := range found {
			if c.before(f.at) {
				require.False(t, known[f.at], "told twice")
				known[f.at] = true
			}
		}
		require.Len(t, known, len(all))
	})
}

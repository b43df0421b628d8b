package projections_test

import (
	"context"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ledger"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// parted is a log whose records lie in partitions.
type parted struct {
	*pt.Log

	of []uint32 // by row
}

// spread puts the records of a log into partitions, in turns that are not even.
func spread(l *pt.Log) parted {
	p := parted{Log: l}
	for i := range l.Len() {
		p.of = append(p.of, []uint32{0, 2, 0, 0, 7}[i%5])
	}
	return p
}

// Read implements projections.Source.
func (p parted) Read(ctx context.Context, after int64, limit int) ([]events.Entry, error) {
	entries, err := p.Log.Read(ctx, after, limit)
	next := map[uint32]uint64{}
	for _, partition := range p.of[:after] {
		next[partition]++
	}
	out := make([]events.Entry, len(entries))
	for i, e := range entries {
		e.Record.Partition = p.of[after+int64(i)]
		e.Record.Offset = next[e.Record.Partition]
		next[e.Record.Partition]++
		out[i] = e
	}
	return out, err
}

func TestARecordIsFoundByItsPlace(t *testing.T) {
	l := pt.NewLog(t)
	for range 7 {
		actsOf(l, 13, "ben", "view", events.AccessOK)
	}
	source := spread(l)
	v := open(t, "", source)
	follow(t, v, l.Len())
	entries, err := source.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for _, e := range entries {
		p, err := v.At(t.Context(), e.Record.Partition, e.Record.Offset)
		require.NoError(t, err)
		require.True(t, e.Record.Equal(p.Record))
		encoded, err := events.EncodeRecord(e.Record)
		require.NoError(t, err)
		require.Equal(t, encoded, p.Encoded)
		leaf := ledger.LeafHash(encoded)
		require.Equal(t, hex.EncodeToString(leaf[:]), string(p.Leaf))
		require.Equal(t, e.Record.Partition, p.Head.Partition)
	}
	for _, place := range []events.Position{{Partition: 0, Offset: 55}, {Partition: 2, Offset: 18}, {Partition: 1}, {Partition: 7, Offset: 1 << 62}} {
		_, err := v.At(t.Context(), place.Partition, place.Offset)
		require.ErrorIs(t, err, projections.ErrNotFound, place)
	}
}

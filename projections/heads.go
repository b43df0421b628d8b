package projections

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ledger"
)

// heads are the Merkle frontiers over the records that the views have read, by
// partition: the views' own count of what the journal sealed.
type heads map[uint32]*ledger.Frontier

// add appends a record and returns its leaf.
func (h heads) add(r events.Record) (ledger.Hash, error) {
	b, err := events.EncodeRecord(r)
	if err != nil {
		return ledger.Hash{}, err
	}
	f := h[r.Partition]
	if f == nil {
		f = &ledger.Frontier{}
		h[r.Partition] = f
	}
	leaf := ledger.LeafHash(b)
	f.Append(leaf)
	return leaf, nil
}

func (h heads) records() (n uint64) {
	for _, f := range h {
		n += f.Size()
	}
	return n
}

func (h heads) list() []events.Head {
	list := make([]events.Head, 0, len(h))
	for _, p := range slices.Sorted(maps.Keys(h)) {
		root := h[p].Root()
		list = append(list, events.Head{Partition: p, Size: h[p].Size(), Root: events.Digest(hex.EncodeToString(root[:]))})
	}
	return list
}

func (h heads) save(c *changes) error {
	for p, f := range h {
		b, err := f.MarshalBinary()
		if err != nil {
			return err
		}
		c.exec("INSERT INTO frontiers (part, frontier) VALUES (?, ?) ON CONFLICT (part) DO UPDATE SET frontier = excluded.frontier", p, b)
	}
	return nil
}

func loadHeads(ctx context.Context, q querier) (heads, error) {
	h := heads{}
	_, err := list(ctx, q, func(scan func(...any) error) (struct{}, error) {
		var p uint32
		var b []byte
		if err := scan(&p, &b); err != nil {
			return struct{}{}, err
		}
		f := &ledger.Frontier{}
		if err := f.UnmarshalBinary(b); err != nil {
			return struct{}{}, fmt.Errorf("%w: partition %d: %w", errOther, p, err)
		}
		h[p] = f
		return struct{}{}, nil
	}, "SELECT part, frontier FROM frontiers")
	return h, err
}

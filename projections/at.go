package projections

import (
	"context"
	"encoding/hex"
	"fmt"
	"sort"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ledger"
)

// Placed is a record by its place, with the hash under which it is sealed.
type Placed struct {
	events.Record

	Encoded []byte        // the record's own bytes, as they are stored and sealed
	Leaf    events.Digest // of Encoded: its leaf in the Merkle tree of the partition
	Head    events.Head   // of the partition, as far as the views have read
}

// At returns the record at a place of a partition; ErrNotFound where the views
// have not read that far, or there is no such partition.
func (v *Views) At(ctx context.Context, partition uint32, offset uint64) (Placed, error) {
	p := Placed{}
	for _, h := range v.Status().Heads {
		if h.Partition == partition {
			p.Head = h
		}
	}
	if offset >= p.Head.Size {
		return p, ErrNotFound
	}
	var err error
	if p.Record, err = v.find(ctx, partition, offset); err != nil {
		return p, err
	}
	if p.Encoded, err = events.EncodeRecord(p.Record); err != nil {
		return p, err
	}
	leaf := ledger.LeafHash(p.Encoded)
	p.Leaf = events.Digest(hex.EncodeToString(leaf[:]))
	return p, nil
}

// find reads a record by its place. Rows of one partition stand in the order of
// their offsets, so it is searched by halves: in a log of one partition each
// step reads a row, in one of several up to the next row of the partition.
func (v *Views) find(ctx context.Context, partition uint32, offset uint64) (events.Record, error) {
	var err error
	least := int64(offset)                      //nolint:gosec // below the size of a log; no record lies at a row before its offset
	n := int(int64(v.Status().Records) - least) //nolint:gosec // records of a log
	after := sort.Search(n, func(i int) bool {
		r, e := v.next(ctx, partition, least+int64(i))
		if e != nil {
			err = e
		}
		return e != nil || r.Offset >= offset
	})
	if err != nil {
		return events.Record{}, err
	}
	r, err := v.next(ctx, partition, least+int64(after))
	if err == nil && r.Offset != offset {
		err = ErrNotFound
	}
	return r, err
}

// next reads the first record of a partition after a row.
func (v *Views) next(ctx context.Context, partition uint32, after int64) (events.Record, error) {
	for most := 1; ; most = min(4*most, 256) {
		entries, err := v.opt.Source.Read(ctx, after, most)
		if err != nil {
			return events.Record{}, fmt.Errorf("read the log after row %d: %w", after, err)
		}
		if len(entries) == 0 {
			return events.Record{Offset: ^uint64(0)}, nil
		}
		for _, e := range entries {
			if e.Record.Partition == partition {
				return e.Record, nil
			}
			after = e.Row
		}
	}
}

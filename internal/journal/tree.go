package journal

import (
	"cmp"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/ledger"
)

// Head is the end of the journal: what to keep elsewhere, so that a cut tail
// shows.
type Head struct {
	Row        int64           // the last row; 0: the journal is empty
	Partitions []PartitionHead // by partition
}

// PartitionHead is the end of one partition.
type PartitionHead struct {
	Partition uint32
	Size      uint64      // the number of records, the next offset
	Root      ledger.Hash // RFC 6962 tree hash over them
	LogTime   int64       // of the last, microseconds
}

// edge is where a partition ends: all that an append needs to know of it.
type edge struct {
	frontier ledger.Frontier
	logTime  int64
}

func (e *edge) clone() *edge { return &edge{frontier: e.frontier.Clone(), logTime: e.logTime} }

func (e *edge) equal(o *edge) bool {
	return e.logTime == o.logTime && e.frontier.Equal(&o.frontier)
}

// tree is where the journal ends: its last row, and the edge of each
// partition. Readers share it; a commit makes another one.
type tree struct {
	row     int64
	snapped int64 // the last row in frontiers
	stays   int64 // the last number in sessions
	edges   map[uint32]*edge
}

// edit returns a copy in which edges are replaced, and only then changed.
func (t *tree) edit() *draft {
	return &draft{tree: tree{row: t.row, snapped: t.snapped, stays: t.stays, edges: maps.Clone(t.edges)}, mine: map[uint32]*edge{}}
}

// draft is the tree as the transaction under way would leave it.
type draft struct {
	tree
	now  int64            // log time of the transaction, microseconds
	mine map[uint32]*edge // the edges that differ from the committed tree's
}

// edge returns a partition's edge to change.
func (d *draft) edge(partition uint32) *edge {
	if e, ok := d.mine[partition]; ok {
		return e
	}
	e := &edge{}
	if committed, ok := d.edges[partition]; ok {
		e = committed.clone()
	}
	d.edges[partition], d.mine[partition] = e, e
	return e
}

func (t *tree) head() Head {
	h := Head{Row: t.row, Partitions: make([]PartitionHead, 0, len(t.edges))}
	for p, e := range t.edges {
		h.Partitions = append(h.Partitions, PartitionHead{
			Partition: p, Size: e.frontier.Size(), Root: e.frontier.Root(), LogTime: e.logTime,
		})
	}
	slices.SortFunc(h.Partitions, func(a, b PartitionHead) int { return cmp.Compare(a.Partition, b.Partition) })
	return h
}

package ui

import (
	"context"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// edge is a place in the log, with this node's row for it.
type edge struct {
	cursor

	row int64
}

// frames encodes the notices after a place.
func frames(from edge, notices []projections.Notice) ([]frame, edge) {
	all, at := make([]frame, 0, len(notices)), from.copy()
	for _, n := range notices {
		at.pass(n.At, n.Row)
		all = append(all, newFrame(&n, at.cursor))
	}
	return all, at
}

// after is the place after some frames.
func after(from edge, all []frame) edge {
	at := from.copy()
	for i := range all {
		at.pass(all[i].at, all[i].row)
	}
	return at
}

func (e *edge) copy() edge {
	c := *e
	c.sizes = maps.Clone(e.sizes)
	return c
}

// pass moves the place over a record.
func (e *edge) pass(at events.Position, row int64) {
	e.at, e.row = at, row
	e.sizes[at.Partition] = at.Offset + 1
}

// find returns the number of the first frame after a place, reaching back for
// it as far as the window. known: the tail knows the place and all after it.
func (t *tail) find(ctx context.Context, c cursor) (number int64, known bool, err error) {
	if _, end := t.now(); c.records() > end.records() { // a page may be ahead of the tail
		if err := t.follow(ctx); err != nil {
			return 0, false, err
		}
	}
	for {
		number, known, older := t.look(c)
		if known || older == nil {
			return number, known, nil
		}
		if further, err := t.reachBack(ctx, *older); err != nil || !further {
			return 0, false, err
		}
	}
}

// look looks for a place among the frames. older: it may lie before them, who
// begin after that row.
func (t *tail) look(c cursor) (number int64, known bool, older *int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for p, size := range c.sizes {
		if size > t.end.sizes[p] {
			return 0, false, nil // of another log, or of views that were ahead
		}
	}
	row := t.start.row
	for p, size := range t.start.sizes {
		if c.sizes[p] < size {
			return 0, false, &row
		}
	}
	first := t.first(c)
	switch {
	case c.at == t.start.at, t.holds(c.at, first):
		return t.base + int64(first), true, nil
	case c.sizes[c.at.Partition] == t.start.sizes[c.at.Partition]:
		return 0, false, &row // it may still be the record that it says
	default:
		return 0, false, nil
	}
}

// first is the index of the first frame behind a place. In one partition all
// that follow are behind it too.
func (t *tail) first(c cursor) int {
	if len(t.end.sizes) == 1 {
		return int(c.records() - t.start.records()) //nolint:gosec // of the frames
	}
	for i := range t.frames {
		if c.before(t.frames[i].at) {
			return i
		}
	}
	return len(t.frames)
}

// holds reports whether a record is among the frames, looking from an index
// backwards first.
func (t *tail) holds(at events.Position, near int) bool {
	is := func(f frame) bool { return f.at == at }
	if near > 0 && is(t.frames[near-1]) {
		return true
	}
	return len(t.end.sizes) > 1 && slices.ContainsFunc(t.frames, is)
}

// reachBack puts a chunk of records before the first frame, which begins after a
// row. It reports whether the tail has more than before: whether there was a
// chunk, and room for it in the window.
func (t *tail) reachBack(ctx context.Context, row int64) (bool, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	start := t.start
	if start.row != row {
		return true, nil // somebody else has reached back meanwhile
	}
	limit := min(tailChunk, t.window-len(t.frames))
	if limit <= 0 || start.row == 0 {
		return false, nil
	}
	notices, err := t.views.Notices(ctx, max(0, start.row-int64(limit)), start.row, limit)
	if err != nil || len(notices) == 0 {
		return false, err
	}
	before := edge{cursor: cursor{sizes: maps.Clone(start.sizes)}, row: notices[0].Row - 1}
	for _, n := range notices {
		before.sizes[n.At.Partition]--
	}
	maps.DeleteFunc(before.sizes, func(_ uint32, size uint64) bool { return size == 0 })
	if before.row > 0 {
		before.at = events.Position{LogTime: -1} // not read: no cursor is there
	}
	older, _ := frames(before, notices)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames = append(older, t.frames...)
	t.base -= int64(len(older))
	t.start = before
	return true, nil
}

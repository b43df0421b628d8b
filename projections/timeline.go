package projections

import (
	"context"
	"fmt"
	"sort"
	"strconv"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Timeline returns a session's records in log order, each with what the fold
// said of it. cursor is "" or a Next of the same session. The records come from
// the log, as far as the views have read it.
func (v *Views) Timeline(ctx context.Context, session, cursor string, limit int) (Page[Step], error) {
	name := "timeline " + session
	after := int64(0)
	if cursor != "" {
		at, err := decodeCursor(cursor, name)
		if err == nil {
			after, err = v.rowOf(ctx, session, at)
		}
		if err != nil {
			return Page[Step]{}, err
		}
	}
	steps, err := v.steps(ctx, session, after, limit+1)
	return pageOf(steps, limit, name, func(s Step) events.Position { return s.Position }), err
}

// rowOf returns a row after which exactly the records of a session lie that come
// after a place. They stand in the order of their places, whatever the log's
// other partitions do.
func (v *Views) rowOf(ctx context.Context, session string, at events.Position) (int64, error) {
	var err error
	row := sort.Search(int(v.opt.Source.Head()), func(after int) bool { //nolint:gosec // a log has fewer records
		entries, e := v.opt.Source.Session(ctx, session, int64(after), 1)
		if e != nil {
			err = e
		}
		return len(entries) == 0 || entries[0].Record.Position().Compare(at) > 0
	})
	if err != nil {
		return 0, fmt.Errorf("read session %.80q: %w", session, err)
	}
	return int64(row), nil
}

// steps reads up to limit records of a session after a row.
func (v *Views) steps(ctx context.Context, session string, after int64, limit int) ([]Step, error) {
	var steps []Step
	var rows []int64
	read := v.sizes()
	for len(steps) < limit {
		want := limit - len(steps)
		entries, err := v.opt.Source.Session(ctx, session, after, want)
		if err != nil {
			return nil, fmt.Errorf("read session %.80q: %w", session, err)
		}
		for _, e := range entries {
			after = e.Row
			r := fold.Decode(e.Record)
			if r.Offset >= read[r.Partition] {
				return steps, v.reasons(ctx, steps, rows)
			}
			if r.Envelope.SessionID == session { // what cannot be read at all is set aside
				steps, rows = append(steps, Step{Record: r}), append(rows, e.Row)
			}
		}
		if len(entries) < want {
			break
		}
	}
	return steps, v.reasons(ctx, steps, rows)
}

// sizes returns how many records of each partition the views have read.
func (v *Views) sizes() map[uint32]uint64 {
	read := map[uint32]uint64{}
	for _, h := range v.Status().Heads {
		read[h.Partition] = h.Size
	}
	return read
}

// reasons says of each step why it moved nothing, if it did not.
func (v *Views) reasons(ctx context.Context, steps []Step, rows []int64) error {
	if len(rows) == 0 {
		return nil
	}
	type uncounted struct {
		row    int64
		reason fold.Reason
	}
	all, err := list(ctx, v.db, func(scan func(...any) error) (u uncounted, err error) { return u, scan(&u.row, &u.reason) },
		"SELECT u.row, u.reason FROM json_each(?) j JOIN uncounted u ON u.row = j.value", idsOf(rows))
	if err != nil {
		return err
	}
	byRow := make(map[int64]fold.Reason, len(all))
	for _, u := range all {
		byRow[u.row] = u.reason
	}
	for i := range steps {
		steps[i].Reason = byRow[rows[i]]
	}
	return nil
}

// idsOf is a list of numbers as a parameter for json_each.
func idsOf[T int64 | uint64](rows []T) string {
	b := []byte{'['}
	for i, row := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(row), 10)
	}
	return string(append(b, ']'))
}

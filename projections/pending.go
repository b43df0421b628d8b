package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// PendingPage returns undecided requests that a reader may see, the oldest
// first. cursor is "" or a Next of the same reader.
func (v *Views) PendingPage(ctx context.Context, reader Reader, cursor string, limit int) (Page[Request], error) {
	name := "pending " + reader.listName()
	if v.stands() {
		return v.standIn.page(ctx, reader, cursor, name, limit)
	}
	where, args := reader.where("q.session")
	if cursor != "" {
		p, err := decodeCursor(cursor, name)
		if err != nil {
			return Page[Request]{}, err
		}
		where += " AND (q.log_time, q.part, q.off) > (?, ?, ?)"
		args = append(args, p.LogTime, p.Partition, off(p))
	}
	items, err := list(ctx, v.db, scanRequest,
		selectRequests+" WHERE q.state = 'pending'"+where+" ORDER BY q.log_time, q.part, q.off LIMIT ?", append(args, limit+1)...)
	return pageOf(items, limit, name, requestAt), err
}

func requestAt(r Request) events.Position { return r.At }

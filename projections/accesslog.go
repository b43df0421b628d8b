package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// AccessFilter narrows the access log. What is empty does not narrow.
type AccessFilter struct {
	Person, Action string    // exact
	Outcome        string    // events.AccessOK or events.AccessRefused
	From, Until    time.Time // log time: From <= t < Until; zero: open
}

// AccessLog returns acts on the record, the newest first. cursor is "" or a
// Next of the same filter. Where a page ends before it is full, Reached says how
// far back it looked.
func (v *Views) AccessLog(ctx context.Context, f AccessFilter, cursor string, limit int) (Page[Access], error) {
	b := &bounded{
		table: "access", columns: "log_time, part, off, session, doc",
		name: fmt.Sprintf("access %q %q %q %d %d", f.Person, f.Action, f.Outcome, micro(f.From), micro(f.Until)),
	}
	b.looked.within("log_time", f.From, f.Until)
	b.looked.equal("person", f.Person)
	b.rest.equal("action", f.Action)
	b.rest.equal("doc ->> '$.outcome'", f.Outcome)
	return page(ctx, v.db, b, cursor, limit, scanAccess, func(a Access) events.Position { return a.At })
}

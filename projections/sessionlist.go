package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// SessionFilter narrows the list of sessions. What is empty does not narrow.
type SessionFilter struct {
	State        SessionState
	Agent, Asker string    // exact; Asker is the principal whose session it is
	From, Until  time.Time // log time of the first record: From <= t < Until; zero: open
	Broken       bool      // only those in which the watch saw an invariant break
	Unverified   bool      // only those with starts that the watch cannot judge
	Reader       Reader    // whose list it is
}

// FindSessions returns sessions, the newest first. cursor is "" or a Next of the
// same filter. Where a page ends before it is full, Reached says how far back it
// looked.
func (v *Views) FindSessions(ctx context.Context, f SessionFilter, cursor string, limit int) (Page[Session], error) {
	b := &bounded{
		table: "sessions", columns: sessionColumns,
		name: fmt.Sprintf("sessions %q %q %q %d %d %t %t %s", f.State, f.Agent, f.Asker, micro(f.From), micro(f.Until), f.Broken, f.Unverified, f.Reader.listName()),
	}
	b.looked.equal("state", string(f.State))
	b.looked.equal("agent", f.Agent)
	b.looked.equal("principal", f.Asker)
	b.looked.within("log_time", f.From, f.Until)
	if f.Broken {
		b.rest.and("EXISTS (SELECT 1 FROM violations WHERE violations.session = sessions.id)")
	}
	if f.Unverified {
		b.rest.and("EXISTS (SELECT 1 FROM doubts WHERE doubts.session = sessions.id AND finding = '" + foundUnverified + "')")
	}
	visible, args := f.Reader.where("sessions.id")
	b.rest.text.WriteString(visible)
	b.rest.args = append(b.rest.args, args...)
	return page(ctx, v.db, b, cursor, limit, scanSession, func(s Session) events.Position { return s.At })
}

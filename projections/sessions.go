package projections

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

const selectSessions = `SELECT log_time, part, off, id, principal, agent, model, state, records, calls, waiting, title, blocked FROM sessions`

// Sessions returns the sessions that a reader may see, the newest first.
func (v *Views) Sessions(ctx context.Context, reader Reader, cursor string, limit int) (Page[Session], error) {
	name := "sessions " + reader.listName()
	where, args, err := before("sessions", cursor, name)
	if err != nil {
		return Page[Session]{}, err
	}
	visible, more := reader.where("sessions.id")
	where, args = where+visible, append(args, more...)
	items, err := list(ctx, v.db.Load().Read, scanSession,
		selectSessions+" WHERE TRUE"+where+" ORDER BY log_time DESC, part DESC, off DESC LIMIT ?", append(args, limit+1)...)
	return pageOf(items, limit, name, func(s Session) events.Position { return s.At }), err
}

// Session returns a session's line; ErrNotFound if no record names it.
func (v *Views) Session(ctx context.Context, id string) (Session, error) {
	return first(ctx, v.db.Load().Read, scanSession, selectSessions+" WHERE id = ?", id)
}

func scanSession(scan func(...any) error) (Session, error) {
	var s Session
	var at place
	var title string
	if err := scan(append(at.dest(), &s.ID, &s.Principal, &s.Agent, &s.Model, &s.State, &s.Records, &s.Calls, &s.Waiting, &title, &s.Blocked)...); err != nil {
		return s, err
	}
	s.At = at.position()
	if title == "" {
		return s, nil
	}
	s.Title = &events.Ref{}
	return s, undoc(title, s.Title)
}

// Runs returns a session's runs in log order, up to limit.
func (v *Views) Runs(ctx context.Context, session string, limit int) ([]Run, error) {
	return list(ctx, v.db.Load().Read, scanRun,
		"SELECT session, doc FROM runs WHERE session = ? ORDER BY log_time, part, off LIMIT ?", session, limit)
}

// RunOf returns one run of a session; ErrNotFound if it has none of that id.
func (v *Views) RunOf(ctx context.Context, session, id string) (Run, error) {
	return first(ctx, v.db.Load().Read, scanRun, "SELECT session, doc FROM runs WHERE session = ? AND id = ?", session, id)
}

func scanRun(scan func(...any) error) (Run, error) {
	var r Run
	var text string
	if err := scan(&r.Session, &text); err != nil {
		return r, err
	}
	return r, undoc(text, &r.Run)
}

// Timeline returns a session's records in log order, each with what the fold
// said of it. cursor is "" or a Next of the same session.
func (v *Views) Timeline(ctx context.Context, session, cursor string, limit int) (Page[Step], error) {
	name := "timeline " + session
	where, args := "", []any{session}
	if cursor != "" {
		p, err := decodeCursor(cursor, name)
		if err != nil {
			return Page[Step]{}, err
		}
		where = " AND (log_time, part, off) > (?, ?, ?)"
		args = append(args, p.LogTime, p.Partition, off(p))
	}
	marks, err := list(ctx, v.db.Load().Read, scanMark,
		"SELECT row, reason FROM records WHERE session = ?"+where+" ORDER BY row LIMIT ?", append(args, limit+1)...)
	if err != nil || len(marks) == 0 {
		return Page[Step]{}, err
	}
	steps, err := v.steps(ctx, session, marks)
	return pageOf(steps, limit, name, func(s Step) events.Position { return s.Position }), err
}

// stepMark is what the views keep of a record.
type stepMark struct {
	row    int64
	reason fold.Reason
}

func scanMark(scan func(...any) error) (m stepMark, err error) { return m, scan(&m.row, &m.reason) }

// steps reads marked records from the log.
func (v *Views) steps(ctx context.Context, session string, marks []stepMark) ([]Step, error) {
	reasons := make(map[int64]fold.Reason, len(marks))
	for _, m := range marks {
		reasons[m.row] = m.reason
	}
	steps := make([]Step, 0, len(marks))
	for after, last := marks[0].row-1, marks[len(marks)-1].row; after < last; {
		entries, err := v.opt.Source.Session(ctx, session, after, len(marks))
		if err != nil {
			return nil, fmt.Errorf("read session %.80q: %w", session, err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			if reason, ok := reasons[e.Row]; ok {
				steps = append(steps, Step{Record: fold.Decode(e.Record), Reason: reason})
			}
			after = e.Row
		}
	}
	return steps, nil
}

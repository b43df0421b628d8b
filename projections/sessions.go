package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

const sessionColumns = `log_time, part, off, id, principal, agent, model, state, records, calls, waiting, title, blocked,
	(SELECT count(*) FROM violations WHERE violations.session = sessions.id),
	coalesce((SELECT n FROM doubts WHERE doubts.session = sessions.id AND finding = '` + foundUnverified + `'), 0),
	coalesce((SELECT n FROM doubts WHERE doubts.session = sessions.id AND finding = '` + foundUnenforced + `'), 0)`

const selectSessions = "SELECT " + sessionColumns + " FROM sessions"

// Sessions returns the sessions that a reader may see, the newest first.
func (v *Views) Sessions(ctx context.Context, reader Reader, cursor string, limit int) (Page[Session], error) {
	return v.FindSessions(ctx, SessionFilter{Reader: reader}, cursor, limit)
}

// Session returns a session's line; ErrNotFound if no record names it.
func (v *Views) Session(ctx context.Context, id string) (Session, error) {
	return first(ctx, v.db, scanSession, selectSessions+" WHERE id = ?", id)
}

func scanSession(scan func(...any) error) (Session, error) {
	var s Session
	var at place
	var title string
	if err := scan(append(at.dest(), &s.ID, &s.Principal, &s.Agent, &s.Model, &s.State, &s.Records, &s.Calls, &s.Waiting, &title, &s.Blocked, &s.Violations, &s.Unverified, &s.Unenforced)...); err != nil {
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
	return list(ctx, v.db, scanRun,
		"SELECT session, doc FROM runs WHERE session = ? ORDER BY log_time, part, off LIMIT ?", session, limit)
}

// RunOf returns one run of a session; ErrNotFound if it has none of that id.
func (v *Views) RunOf(ctx context.Context, session, id string) (Run, error) {
	return first(ctx, v.db, scanRun, "SELECT session, doc FROM runs WHERE session = ? AND id = ?", session, id)
}

func scanRun(scan func(...any) error) (Run, error) {
	var r Run
	var text string
	if err := scan(&r.Session, &text); err != nil {
		return r, err
	}
	return r, undoc(text, &r.Run)
}

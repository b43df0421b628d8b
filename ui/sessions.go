package ui

import (
	"context"
	"net/http"
	"net/url"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// sessionsView is a page of sessions, the newest first.
type sessionsView struct {
	Rows          []sessionRow
	Newest, Older string
}

type sessionRow struct {
	When  whenView
	Chip  chip
	Title []visible.Span // the first query, theirs
	ID    []visible.Span
	Agent string
	By    string
	Calls string
	Href  string
}

func (c *Console) sessions(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "before"); err != nil {
		return err
	}
	before := r.URL.Query().Get("before")
	page, err := c.views.Sessions(r.Context(), reader(id), before, pageRows)
	if err != nil {
		return err
	}
	c.note(r.Context(), id, "sessions", "")
	v, n, day := sessionsView{}, c.names(), ""
	for _, s := range page.Items {
		row := sessionRow{
			When: when(s.At, day), Chip: sessionChip(s), Title: c.titleOf(r.Context(), s, 120), ID: visible.Line(s.ID, 40),
			Agent: visible.String(s.Agent), By: n.of(r.Context(), s.Principal), Calls: group(s.Calls), Href: sessionPath(s.ID),
		}
		v.Rows, day = append(v.Rows, row), row.When.Day
	}
	if before != "" {
		v.Newest = "/sessions"
	}
	if page.Next != "" {
		v.Older = "/sessions?before=" + url.QueryEscape(page.Next)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Sessions", "/sessions"), sessionsPage(v))
}

// titleOf is what a session was first asked, in one line.
func (c *Console) titleOf(ctx context.Context, s projections.Session, most int) []visible.Span {
	if s.Title == nil {
		return visible.Line("no query on record", most)
	}
	b, err := c.views.Text(ctx, "", s.Title)
	if err != nil {
		return visible.Line(missing(err), most)
	}
	return visible.Line(clean(b, 4*most), most)
}

func sessionChip(s projections.Session) chip {
	switch s.State {
	case projections.SessionWaiting:
		return chip{"wait", "clock", count(s.Waiting, "request waits", "requests wait")}
	case projections.SessionRunning:
		return chip{"busy", "clock", "Running"}
	case projections.SessionBlocked:
		return chip{"odd", "warn", "Blocked"}
	case projections.SessionIdle:
	}
	return chip{"gone", "check", "Finished"}
}

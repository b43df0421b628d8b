package ui

import (
	"context"
	"net/http"
	"net/url"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// timelineRows is how many records a page of a session lists.
const timelineRows = 100

// sessionView is a session with its records in log order.
type sessionView struct {
	Chip    chip
	Title   []visible.Span
	ID      []visible.Span
	Facts   []factView
	Blocked string
	Steps   []stepView
	First   string // the path of the first page; "" on it
	Later   string
	History string // the path of its calls
}

// stepView is a record in plain words.
type stepView struct {
	Time, Stamp, Place string
	Icon, Class        string
	Words              string         // ours
	Thing              []visible.Span // a name of theirs in it
	Theirs             []visible.Span // what they said, in one line
	NotCounted         string
	Href               string
}

func (c *Console) session(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "id", "after"); err != nil {
		return err
	}
	q := r.URL.Query()
	name := r.PathValue("id")
	if name == "" {
		name = q.Get("id")
	}
	ctx := r.Context()
	if err := c.mayReadSession(ctx, id, name); err != nil {
		return err
	}
	s, err := c.views.Session(ctx, name)
	if err != nil {
		return err
	}
	page, err := c.views.Timeline(ctx, name, q.Get("after"), timelineRows)
	if err != nil {
		return err
	}
	c.note(ctx, id, clip("session "+name), name)
	n := c.names()
	v := sessionView{
		Chip: sessionChip(s), Title: c.titleOf(ctx, s, 200), ID: visible.Line(name, 100), Blocked: visible.String(s.Blocked),
		History: "/history?" + url.Values{"session": {name}}.Encode(), Facts: c.sessionFacts(ctx, n, s),
	}
	for _, step := range page.Items {
		v.Steps = append(v.Steps, c.step(ctx, n, step))
	}
	if q.Get("after") != "" {
		v.First = sessionPath(name)
	}
	if page.Next != "" {
		v.Later = sessionPath(name) + "&after=" + url.QueryEscape(page.Next)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Session", "/sessions"), sessionPage(v))
}

func (c *Console) sessionFacts(ctx context.Context, n *names, s projections.Session) []factView {
	return []factView{
		{Name: "Asked by", Value: n.of(ctx, s.Principal)},
		{Name: "Agent", Value: visible.String(s.Agent)},
		{Name: "Model", Spans: visible.Line(s.Model, 60)},
		{Name: "Began", Value: clockDate(at(s.At)) + " UTC", Time: at(s.At)},
		{Name: "Calls", Value: group(s.Calls), Href: "/history?" + url.Values{"session": {s.ID}}.Encode()},
		{Name: "Records", Value: group(s.Records)},
	}
}

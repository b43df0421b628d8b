package ui

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// maxQueue is how many waiting requests a page lists; how many more there are
// is said.
const maxQueue = 50

// queueView is the list of waiting requests, the oldest first.
type queueView struct {
	Cards   []cardView
	Total   int
	More    int
	Seq     uint64
	Current string // the id of the request beside it
	Idle    idleView
}

// cardView is a waiting request in the queue.
type cardView struct {
	ID       string
	Href     string
	Tool     []visible.Span
	Rule     string
	Summary  []visible.Span
	Agent    string
	Needed   string // how many of how many approvals there are; "" for one
	Asked    time.Time
	Deadline time.Time
	Left     string
	Soon     bool
	Percent  string // of the time that is left
}

// idleView says what is not wrong while nothing waits.
type idleView struct {
	Last   string // how long ago the last record was
	Place  string
	Policy string
	Behind string // how far the views are behind; "" where they are not
	Aside  int
}

// inboxView is the queue with the oldest request beside it.
type inboxView struct {
	Queue   queueView
	Request *requestView
}

func (c *Console) inbox(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r); err != nil {
		return err
	}
	v := inboxView{}
	var err error
	if v.Queue, err = c.queueFor(r.Context(), id, ""); err != nil {
		return err
	}
	if len(v.Queue.Cards) > 0 {
		q, err := c.views.Request(r.Context(), v.Queue.Cards[0].ID)
		if err != nil {
			return err
		}
		v.Queue.Current = q.RequestID
		view := c.requestView(r.Context(), id, q)
		v.Request = &view
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Inbox", "/inbox"), inboxPage(v))
}

// queue answers the list alone, for the script that keeps it fresh. The same
// state has the same ETag: the clocks of the cards run in the browser.
func (c *Console) queue(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "current"); err != nil {
		return err
	}
	tag := `"` + strconv.FormatUint(c.views.Status().Records, 10) + `"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	v, err := c.queueFor(r.Context(), id, r.FormValue("current"))
	if err != nil {
		return err
	}
	return c.fragment(w, r, queueList(v))
}

func (c *Console) queueFor(ctx context.Context, id auth.Identity, current string) (queueView, error) {
	status := c.views.Status()
	pending, err := c.views.Pending(ctx, reader(id), maxQueue)
	if err != nil {
		return queueView{}, err
	}
	v := queueView{Total: len(pending), Seq: status.Records, Current: current}
	if len(pending) == maxQueue {
		v.Total = max(status.Pending, len(pending))
		v.More = v.Total - len(pending)
	}
	for _, q := range pending {
		v.Cards = append(v.Cards, c.card(ctx, q))
	}
	if v.Total == 0 {
		v.Idle = c.idle(status)
	}
	return v, nil
}

func (c *Console) card(ctx context.Context, q projections.Request) cardView {
	now := c.now()
	rest := q.Deadline.Sub(now)
	asked := at(q.At)
	v := cardView{
		ID: q.RequestID, Href: requestPath(q.RequestID), Tool: visible.Line(q.Tool, 60), Rule: visible.String(q.Rule),
		Summary: c.summaryOf(ctx, q.Carrier, q.Arguments), Agent: agentName(q.Call.Agent), Asked: asked, Deadline: q.Deadline.UTC(),
		Left: left(rest), Soon: rest < time.Minute, Percent: percent(rest, q.Deadline.Sub(asked)),
	}
	if q.Quorum > 1 {
		v.Needed = strconv.Itoa(len(q.Votes)) + " of " + count(q.Quorum, "approval", "approvals")
	}
	return v
}

func percent(part, whole time.Duration) string {
	if whole <= 0 || part <= 0 {
		return "0"
	}
	return strconv.Itoa(int(min(100, part*100/whole)))
}

func (c *Console) idle(s projections.Status) idleView {
	v := idleView{Policy: c.opt.Policy, Aside: s.Aside}
	if s.Records > 0 {
		v.Last, v.Place = span(c.now().Sub(at(s.Position))), place(s.Position)
	}
	if lag := s.Lag(c.now()); lag > time.Second {
		v.Behind = span(lag)
	}
	return v
}

func requestPath(id string) string { return "/requests/" + url.PathEscape(id) }

// only refuses parameters that a page does not know, and repeated ones.
func only(r *http.Request, known ...string) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errQuery
	}
	for name, values := range q {
		if len(values) != 1 || !slices.Contains(known, name) {
			return errQuery
		}
	}
	return nil
}

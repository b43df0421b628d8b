package ui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// maxQueue is how many waiting requests a page lists; how many more there are is
// said, and they are a page further.
const maxQueue = 30

// queueView is a page of waiting requests, the oldest first.
type queueView struct {
	Cards   []cardView
	Total   int    // waiting ones that the reader may see
	After   string // the cursor of this page; "" for the oldest
	Next    string // the path of the newer ones; "" where there are none
	Rest    int    // how many are newer than this page, where that is known
	Seq     uint64
	Current string // the id of the request beside it
	Person  string // who looks
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
	Title    []visible.Span // what its session was first asked
	Needed   string         // how many of how many approvals there are; "" for one
	Asked    time.Time
	Deadline time.Time
	Left     string
	Soon     bool
	Percent  string // of the time that is left
	Pick     string // its name in words where it can be decided with others; "" where not
}

// idleView says what is not wrong while nothing waits.
type idleView struct {
	Last   string // how long ago the last record was
	Place  string
	Policy string
	Behind string // how far the views are behind; "" where they are not
	Aside  int
	// Unknown: the views are being built, or cannot be read, so that nobody can
	// say what waits.
	Unknown bool
	Read    string // how far the views are, where they are behind
}

// inboxView is the queue with the oldest request beside it.
type inboxView struct {
	Queue   queueView
	Request *requestView
}

func (c *Console) inbox(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "after"); err != nil {
		return err
	}
	v := inboxView{}
	var err error
	if v.Queue, err = c.queuePage(r.Context(), id, "", r.FormValue("after")); err != nil {
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
	if err := only(r, "current", "after"); err != nil {
		return err
	}
	tag := queueTag(c.views.Status(), c.behind())
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	v, err := c.queuePage(r.Context(), id, r.FormValue("current"), r.FormValue("after"))
	if err != nil {
		return err
	}
	return c.fragment(w, r, queueList(v))
}

// queueTag names a state of the queue: how far the views have read, and whether
// the log may have more.
func queueTag(s projections.Status, behind bool) string {
	tag := strconv.FormatUint(s.Records, 10)
	if behind || s.Fault != "" {
		tag += "-" + digits(s.Lost) + "-behind-" + strconv.FormatUint(s.Head, 10) // what the gate knows moves with the log
	}
	return `"` + tag + `"`
}

// queueFor is the queue from the oldest on.
func (c *Console) queueFor(ctx context.Context, id auth.Identity, current string) (queueView, error) {
	return c.queuePage(ctx, id, current, "")
}

func (c *Console) queuePage(ctx context.Context, id auth.Identity, current, after string) (queueView, error) {
	status := c.views.Status()
	page, err := c.views.PendingPage(ctx, reader(id), after, maxQueue)
	if err != nil {
		return queueView{}, err
	}
	v := queueView{Total: len(page.Items), Seq: status.Records, Current: current, After: after, Person: id.Person}
	if page.Next != "" || after != "" {
		v.Total = c.pendingFor(id)
	}
	if page.Next != "" {
		v.Next = "/inbox?" + url.Values{"after": {page.Next}}.Encode()
		if after == "" {
			v.Rest = v.Total - len(page.Items)
		}
	}
	titles := map[string][]visible.Span{}
	for _, q := range page.Items {
		v.Cards = append(v.Cards, c.card(ctx, id, titles, q))
	}
	if v.Total == 0 {
		v.Idle = c.idle(status)
	}
	return v, nil
}

// card tells of a waiting request; titles are those of sessions that are known.
func (c *Console) card(ctx context.Context, id auth.Identity, titles map[string][]visible.Span, q projections.Request) cardView {
	now := c.now()
	rest := q.Deadline.Sub(now)
	asked := at(q.At)
	v := cardView{
		ID: q.RequestID, Href: requestPath(q.RequestID), Tool: slim(visible.Line(q.Tool, 60), 400), Rule: visible.String(q.Rule),
		Summary: slim(c.summaryOf(ctx, q.Carrier, q.Arguments), 800), Agent: agentName(q.Call.Agent),
		Title: slim(c.sessionTitle(ctx, titles, q.Session), 400),
		Asked: asked, Deadline: q.Deadline.UTC(), Left: left(rest), Soon: rest < time.Minute, Percent: percent(rest, q.Deadline.Sub(asked)),
	}
	if q.Quorum > 1 {
		v.Needed = strconv.Itoa(len(q.Votes)) + " of " + count(q.Quorum, "approval", "approvals")
	}
	if c.notInBulk(id, q) == "" {
		v.Pick = visible.String(q.Tool) + ", asked " + clock(asked)
	}
	return v
}

// titleLine is how much of a session's first query a line shows.
const titleLine = 60

// sessionTitle is what a session was first asked, read once a page.
func (c *Console) sessionTitle(ctx context.Context, titles map[string][]visible.Span, session string) []visible.Span {
	if t, ok := titles[session]; ok {
		return t
	}
	var title []visible.Span
	if s, err := c.views.Session(ctx, session); err == nil && s.Title != nil {
		title = c.titleOf(ctx, s, titleLine)
	}
	titles[session] = title
	return title
}

func percent(part, whole time.Duration) string {
	if whole <= 0 || part <= 0 {
		return "0"
	}
	return strconv.Itoa(int(min(100, part*100/whole)))
}

func (c *Console) idle(s projections.Status) idleView {
	v := idleView{Policy: c.opt.Policy(), Aside: s.Aside, Unknown: s.Behind(c.now()) || s.Fault != ""}
	if v.Unknown {
		v.Read, v.Unknown = sentence(readSoFar(s)), !c.views.KnowsWaiting()
	}
	if s.Records > 0 {
		v.Last, v.Place = span(c.now().Sub(at(s.Position))), place(s.Position)
	}
	if lag := s.Lag(c.now()); lag > time.Second {
		v.Behind = span(lag)
	}
	return v
}

func requestPath(id string) string { return "/requests/" + url.PathEscape(id) }

// moreWords leads to the newer ones.
func moreWords(v queueView) string {
	if v.Rest > 0 {
		return "and " + group(v.Rest) + " more, newer ones"
	}
	return "newer ones"
}

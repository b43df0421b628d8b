package ui

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// stepRows is how many records a page of a session lists.
const stepRows = 40

// sessionView is a session: what it was asked, its calls over time, and its
// records in log order.
type sessionView struct {
	Head     sessionHead
	Timeline *timelineView // on the first page
	Steps    []stepView
	Records  string
	First    string // the path of the first page; "" on it
	Later    string
}

// sessionHead is what a session comes to so far.
type sessionHead struct {
	Chip    chip
	Chips   []string
	Title   []visible.Span
	ID      []visible.Span
	Words   string
	Watch   watchView
	Blocked string
	Bypass  string // "" where there was none
	Live    string // the path of head and timeline, while the session is under way
}

func (c *Console) session(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "id", "after"); err != nil {
		return err
	}
	s, err := c.sessionOf(r, id)
	if err != nil {
		return err
	}
	ctx, n, after := r.Context(), c.names(), r.URL.Query().Get("after")
	page, err := c.views.Timeline(ctx, s.ID, after, stepRows)
	if err != nil {
		return err
	}
	c.note(ctx, id, clip("session "+s.ID), s.ID)
	v := sessionView{Steps: c.steps(ctx, n, s.ID, page.Items), Records: group(s.Records)}
	if v.Head, err = c.sessionHead(ctx, n, s); err != nil {
		return err
	}
	if after != "" {
		v.First = sessionPath(s.ID)
	} else {
		t, err := c.timeline(ctx, n, s)
		if err != nil {
			return err
		}
		v.Timeline = &t
	}
	if page.Next != "" {
		v.Later = sessionPath(s.ID) + "&after=" + url.QueryEscape(page.Next)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Session", "/sessions"), sessionPage(v))
}

// sessionLive answers head and timeline afresh, for a page that shows them.
func (c *Console) sessionLive(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "id"); err != nil {
		return err
	}
	s, err := c.sessionOf(r, id)
	if err != nil {
		return err
	}
	ctx, n := r.Context(), c.names()
	c.note(ctx, id, clip("session "+s.ID), s.ID)
	head, err := c.sessionHead(ctx, n, s)
	if err != nil {
		return err
	}
	t, err := c.timeline(ctx, n, s)
	if err != nil {
		return err
	}
	return c.fragment(w, r, sessionNow(head, t))
}

// sessionOf finds the session that a request names, if it is for the reader.
func (c *Console) sessionOf(r *http.Request, id auth.Identity) (projections.Session, error) {
	name := r.PathValue("id")
	if name == "" {
		name = r.URL.Query().Get("id")
	}
	if err := c.mayReadSession(r.Context(), id, name); err != nil {
		return projections.Session{}, err
	}
	return c.views.Session(r.Context(), name)
}

func (c *Console) sessionHead(ctx context.Context, n *names, s projections.Session) (sessionHead, error) {
	came, err := c.views.Totals(ctx, s.ID)
	if err != nil {
		return sessionHead{}, err
	}
	h := sessionHead{
		Chip: sessionChip(s), Title: c.titleOf(ctx, s, 200), ID: visible.Line(s.ID, 100), Blocked: visible.String(s.Blocked),
		Words: sessionWords(n.of(ctx, s.Principal), s, came),
	}
	for _, name := range []string{s.Agent, s.Model} {
		if name != "" {
			h.Chips = append(h.Chips, shortened([]byte(visible.String(name)), 60))
		}
	}
	u := c.used(ctx, s.ID)
	if u.tokens > 0 {
		h.Chips = append(h.Chips, u.least+group(u.tokens)+" tokens")
	}
	if u.bypassed > 0 {
		h.Bypass = "The calls of " + u.least + count(u.bypassed, "run", "runs") + " were free to run under a bypass."
	}
	if s.State == projections.SessionRunning || s.State == projections.SessionWaiting {
		h.Live = "/session/live?id=" + url.QueryEscape(s.ID)
	}
	h.Watch, err = c.watch(ctx, s)
	return h, err
}

// sessionWords says in a sentence or two what came of a session.
func sessionWords(asker string, s projections.Session, o projections.Totals) string {
	words := []string{"Asked by " + asker + " at " + clockDate(at(s.At)) + " UTC."}
	parts := make([]string, 0, 8)
	for _, state := range projections.CallStates() {
		if k := o.Calls[state]; k > 0 {
			parts = append(parts, group(k)+" "+stateWord(state))
		}
	}
	if len(parts) > 0 {
		words = append(words, count(s.Calls, "call", "calls")+": "+strings.Join(parts, ", ")+".")
	}
	if o.Approved > 0 {
		words = append(words, count(o.Approved, "was approved by people", "were approved by people")+".")
	}
	return strings.Join(words, " ")
}

// usage is what the finished runs of a session used.
type usage struct {
	tokens   int64
	bypassed int    // runs that a bypass freed from asking
	least    string // before a number that not all runs are in; "" where all are
}

// used adds up the runs of a session, as far as a page looks at them.
func (c *Console) used(ctx context.Context, session string) (u usage) {
	runs, err := c.views.Runs(ctx, session, maxRuns)
	if err != nil {
		c.logger.ErrorContext(ctx, "runs could not be read", "error", err.Error())
	}
	if len(runs) == maxRuns {
		u.least = "at least "
	}
	for _, r := range runs {
		if r.Finished != nil {
			u.tokens += r.Finished.Usage.Total
		}
		if r.Bypass != nil {
			u.bypassed++
		}
	}
	return u
}

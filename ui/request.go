package ui

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// requestView is all that a page tells of one request, in the order in which it
// stands there.
type requestView struct {
	ID      string
	Place   string
	Tool    []visible.Span
	State   chip
	Pending bool
	Agent   string
	Why     []visible.Span
	Rule    string
	Facts   []factView     // the four that one looks at first
	More    []factView     // the others
	Notes   []visible.Note // about tool and hosts
	Said    string         // an answer to what was just posted

	Definition *definitionView // where the tool is another than was accepted
	Arguments  argumentsView
	Changed    *changedView // where the text is not the model's own any more
	Target     *targetView  // what it would change, as the gate saw it

	Outcome *outcomeView // where it has ended
	Next    *cardView    // the oldest one that waits, where that is another
	Form    *formView    // where the reader may decide
	MayNot  string       // why not
	// ChangeOpen shows the field to change arguments in.
	ChangeOpen bool
	// Decided: the reader has just decided it, so the way on has the focus.
	Decided bool

	Told      *toldView // what the model is told when it is declined
	Similar   *similarView
	Declined  *declinedView
	Turn      []turnView
	ModelText *textView
	Query     *textView
	Decisions []decisionView
}

// factView is one of our own facts.
type factView struct {
	Name, Value, Href string
	Time              time.Time      // zero, or what Value says, for programs
	Left              string         // until Time, for the script's clock; "" where none runs
	Spans             []visible.Span // in place of Value, where it is text of others
}

// changedView is a text that a reviewer wrote.
type changedView struct {
	By      string
	Diff    comparison
	Missing string // why there is nothing to compare with
}

// formView is the form of a decision.
type formView struct {
	Action, ChangeAction string
	Digest               string
	Render, Key          string
	Comment              string
	Typable              string // the arguments, for a text field; "" where they are too long for one
	// Only says why the person may decline and change, but not approve this
	// text; "" where they may.
	Only string
}

func (c *Console) request(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "change", "decided"); err != nil {
		return err
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err != nil {
		return err
	}
	v := c.requestView(r.Context(), id, q)
	v.ChangeOpen, v.Decided = r.URL.Query().Has("change"), r.URL.Query().Has("decided")
	return c.showRequest(w, r, id, http.StatusOK, v)
}

// showRequest answers a request's page with the queue beside it.
func (c *Console) showRequest(w http.ResponseWriter, r *http.Request, id auth.Identity, status int, v requestView) error {
	queue, err := c.queueFor(r.Context(), id, v.ID)
	if err != nil {
		return err
	}
	if len(queue.Cards) > 0 && queue.Cards[0].ID != v.ID {
		v.Next = &queue.Cards[0]
	}
	return c.page(w, r, status, c.shell(id, visible.String(string(visible.Bytes(v.Tool)))+" request", "/inbox"), requestPage(queue, v))
}

// mayReadRequest returns a request that one may see. To everybody else it is the
// same whether there is such a request or not.
func (c *Console) mayReadRequest(ctx context.Context, id auth.Identity, request string) (projections.Request, error) {
	q, err := c.views.Request(ctx, request)
	if err == nil {
		err = c.mayReadSession(ctx, id, q.Session)
	}
	return q, unseen(id, err, request)
}

// requestView gathers what a page tells of a request, and records the view.
func (c *Console) requestView(ctx context.Context, id auth.Identity, q projections.Request) requestView {
	c.note(ctx, id, q.RequestID, q.Session)
	n := c.names()
	v := requestView{
		ID: q.RequestID, Place: place(q.At), Tool: visible.Line(q.Tool, 100), State: requestChip(&q.Request, c.now()), Agent: agentName(q.Call.Agent),
		Why: visible.Line(q.Why, 400), Rule: visible.String(q.Rule), Pending: q.State == fold.Pending, Notes: visible.NameNotes(q.Tool),
	}
	v.Facts, v.More = c.facts(ctx, n, q)
	text, missing := c.argumentsOf(ctx, &v, q)
	c.changes(ctx, n, &v, q, text)
	v.Definition = c.changedDefinition(ctx, n, q)
	v.Target = c.target(ctx, q)
	if v.Pending && !missing {
		v.Form, v.MayNot = c.formFor(id, q, text)
	}
	if !v.Pending {
		v.Outcome = c.outcome(ctx, n, id, q)
	}
	c.around(ctx, n, id, &v, q)
	return v
}

// argumentsOf puts the current arguments on the page.
func (c *Console) argumentsOf(ctx context.Context, v *requestView, q projections.Request) (text []byte, gone bool) {
	text, err := c.views.Text(ctx, q.Carrier, q.Arguments)
	if err != nil {
		v.Arguments.Missing = missing(err)
		v.MayNot = "Its arguments cannot be shown, so nothing can be decided about them here."
		return nil, true
	}
	v.Arguments = arguments(text, requestPath(q.RequestID)+"/text", requestPath(q.RequestID)+"/download")
	v.Notes = append(v.Notes, v.Arguments.Notes...)
	return text, false
}

// changes compares a reviewer's text with the model's own.
func (c *Console) changes(ctx context.Context, n *names, v *requestView, q projections.Request, text []byte) {
	if q.Author == "" || text == nil {
		return
	}
	v.Changed = &changedView{By: n.of(ctx, q.Author)}
	own, err := c.views.Text(ctx, q.Call.EventID, q.Call.Arguments)
	if err != nil {
		v.Changed.Missing = missing(err)
		return
	}
	v.Changed.Diff = compare(own, text)
}

// mayNotDecide says why a person cannot decide a waiting request; "" where they
// may.
func (c *Console) mayNotDecide(id auth.Identity, q projections.Request) string {
	switch {
	case !id.Can(auth.Decide):
		return errNoDecide.Error()
	case c.opt.ReadOnly != "":
		return errReadOnly.Error()
	case q.FourEyes && id.Person == q.Requester:
		return "Its rule asks for four eyes: who asked may not decide."
	case q.MayDecide(id.Actor()) != "":
		return "Its rule lets others decide: " + approversWords(q.Request)
	case c.now().After(q.Deadline):
		return "Its time is over. The gate records that nobody answered."
	}
	return ""
}

// formFor is the form by which a person decides, or why there is none.
func (c *Console) formFor(id auth.Identity, q projections.Request, text []byte) (*formView, string) {
	if why := c.mayNotDecide(id, q); why != "" {
		return nil, why
	}
	f := &formView{
		Action: requestPath(q.RequestID) + "/decide", ChangeAction: requestPath(q.RequestID) + "/change", Digest: string(q.Digest),
		Render: c.renders.issue(id.Person, q.RequestID, q.Digest), Key: uuid.NewString(), Only: onlyDeclines(id, q),
	}
	if text = asRun(text); len(text) <= changeBudget {
		f.Typable = visible.Typable(text)
	}
	return f, ""
}

// onlyDeclines says why a person may not approve the current text of a request
// that they may decide; "" where they may.
func onlyDeclines(id auth.Identity, q projections.Request) string {
	for _, v := range q.Votes {
		if v.Actor != nil && v.Actor.Person == id.Person {
			return "You approved this at " + clock(at(v.At)) + " UTC. It waits for " + count(q.Needed(), "more person", "more people") + "."
		}
	}
	if q.FourEyes && q.Author == id.Person {
		return "You wrote this text: its rule asks that another person approves it."
	}
	return ""
}

// requestState answers what became of a request, for a page that still shows
// it as waiting.
func (c *Console) requestState(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r); err != nil {
		return err
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err != nil {
		return err
	}
	v := stateView{Digest: string(q.Digest), Href: requestPath(q.RequestID), Chip: requestChip(&q.Request, c.now())}
	v.Who = visible.String(shortened([]byte(q.Tool), 60)) + ", " + agentName(q.Call.Agent)
	if q.State != fold.Pending {
		v.Words = c.endWords(r.Context(), c.names(), &q.Request)
	}
	return c.fragment(w, r, stateLine(v))
}

// stateView is where a request stands, in a line.
type stateView struct {
	Chip   chip
	Words  string // how it ended; "" while it waits
	Digest string
	Href   string
	Who    string // tool and agent, for a desktop notice
}

func (c *Console) requestText(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	q, text, err := c.requestPayload(r, id, "from")
	if err != nil {
		return err
	}
	return c.wholeText(w, r, id, wholeOf{
		Title: "Arguments of " + visible.String(q.Tool), Back: requestPath(q.RequestID), Base: requestPath(q.RequestID) + "/text?", Text: text,
		Download: requestPath(q.RequestID) + "/download",
	})
}

func (c *Console) requestDownload(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	_, text, err := c.requestPayload(r, id)
	if err != nil {
		return err
	}
	download(w, "arguments.json", text)
	return nil
}

// requestPayload reads the current arguments of the request that the path names;
// known are the parameters that the page takes.
func (c *Console) requestPayload(r *http.Request, id auth.Identity, known ...string) (projections.Request, []byte, error) {
	if err := only(r, known...); err != nil {
		return projections.Request{}, nil, err
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err != nil {
		return q, nil, err
	}
	c.note(r.Context(), id, q.RequestID, q.Session)
	text, err := c.payload(r.Context(), q.Carrier, q.Arguments)
	return q, text, err
}

// sessionPath is where a session's page is. Its id is anything.
func sessionPath(id string) string { return "/session?id=" + url.QueryEscape(id) }

package ui

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// callView is a call with its result.
type callView struct {
	Place    string
	PlaceRef string
	Tool     []visible.Span
	Chip     chip
	Marks    []chip
	Words    string
	Agent    string
	Facts    []factView
	Notes    []visible.Note
	Broken   []placeView // what the watch found
	// ArgumentsHeading says whose arguments they are, ResultFrom what the
	// result is.
	ArgumentsHeading string
	ResultFrom       string
	Arguments        argumentsView
	Result           *textView
	Request          string // the path of its request; "" where nobody was asked
	Turn             []turnView
	Records          []placeView // of its life, in log order
}

// placeView is a place in the log, and what stands there.
type placeView struct {
	Place, Href, Words string

	at events.Position
}

// callPath is where a call's page is. Session and batch are anything, so they
// stand in the query.
func callPath(session string, key events.CallKey) string { return "/call?" + callQuery(session, key) }

func callQuery(session string, key events.CallKey) string {
	return url.Values{"session": {session}, "batch": {key.BatchID}, "index": {strconv.Itoa(key.Index)}}.Encode()
}

// callHeadings says whose text is shown: the model's own arguments or a
// reviewer's, and whose result.
func callHeadings(c projections.Call) (arguments, result string) {
	arguments, result = "Arguments, as the model wrote them", "by the tool or the gate"
	if c.Request != nil && c.Request.Author != "" {
		arguments = "Arguments, as a reviewer changed them"
		if c.Start != nil {
			result = "by the tool; the model was told before it that a reviewer changed the arguments, and to what"
		}
	}
	return arguments, result
}

func (c *Console) call(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	call, err := c.callOf(r, id)
	if err != nil {
		return err
	}
	ctx, n := r.Context(), c.names()
	key := callQuery(call.Session, call.CallKey)
	v := callView{
		Place: place(call.At), PlaceRef: placePath(call.At), Marks: enforcementMarks(call), Broken: c.brokenAt(ctx, call), Records: recordsOf(call),
		Tool: visible.Line(call.Tool, 100), Chip: callChip(call), Words: resultWords(call), Agent: agentName(call.Agent),
		Facts: c.callFacts(ctx, n, call), Notes: visible.NameNotes(call.Tool), Turn: c.turn(ctx, n, call.Session, call.CallKey),
	}
	v.ArgumentsHeading, v.ResultFrom = callHeadings(call)
	ref, carrier := call.Current()
	if text, err := c.views.Text(ctx, carrier, ref); err != nil {
		v.Arguments.Missing = missing(err)
	} else {
		v.Arguments = arguments(text, "/call/text?of=arguments&"+key, "/call/download?of=arguments&"+key)
		v.Notes = append(v.Notes, v.Arguments.Notes...)
	}
	if call.Result != nil && call.Result.Result != nil {
		result := c.text(ctx, call.Result.EventID, call.Result.Result, rawBudget)
		result.All, result.Download = "/call/text?of=result&"+key, "/call/download?of=result&"+key
		v.Result = &result
	}
	if call.Request != nil {
		v.Request = requestPath(call.Request.RequestID)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Call of "+visible.String(call.Tool), "/history"), callPage(v))
}

// recordsOf are the records that made a call what it is.
func recordsOf(call projections.Call) []placeView {
	records := []placeView{placeWith(call.At, "the call, as the model wrote it")}
	if q := call.Request; q != nil {
		records = append(records, placeWith(q.At, "the request for a decision"))
		for _, d := range q.Decided {
			records = append(records, placeWith(d.At, "a decision: "+strings.ToLower(decisionWords(&d.Decision))))
		}
		for _, r := range q.Revisions {
			records = append(records, placeWith(r.At, "what became of the changed arguments"))
		}
	}
	if call.Start != nil {
		records = append(records, placeWith(call.Start.At, "the start"))
	}
	if call.Result != nil {
		records = append(records, placeWith(call.Result.At, "the result"))
	}
	slices.SortStableFunc(records, func(a, b placeView) int { return a.at.Compare(b.at) })
	return records
}

func placeWith(p events.Position, words string) placeView {
	return placeView{Place: place(p), Href: placePath(p), Words: words, at: p}
}

// brokenAt are the invariants that the watch saw break by a call.
func (c *Console) brokenAt(ctx context.Context, call projections.Call) []placeView {
	all, err := c.views.ViolationsOf(ctx, call.Session, maxBroken)
	if err != nil {
		c.logger.ErrorContext(ctx, "violations could not be read", "error", err.Error())
	}
	var out []placeView
	for _, v := range all {
		if v.Key == call.CallKey {
			out = append(out, placeWith(v.At, sentence(visible.String(v.Detail))))
		}
	}
	return out
}

// callFacts are what we know of a call ourselves.
func (c *Console) callFacts(ctx context.Context, n *names, call projections.Call) []factView {
	return []factView{
		{Name: "Agent", Value: agentName(call.Agent)},
		{Name: "Asked by", Value: n.of(ctx, call.Principal)},
		{Name: "Session", Spans: visible.Line(call.Session, 60), Href: sessionPath(call.Session)},
		{Name: "Asked at", Value: clockDate(at(call.At)) + " UTC", Time: at(call.At)},
		{Name: "Policy says", Value: string(call.Effect) + " (rule " + visible.String(call.Rule) + ")"},
		{Name: "Decided by", Value: decidedBy(ctx, n, call)},
		{Name: "Runs", Value: runsHow(call.Call, c.opt.Isolation)},
		{Name: "Provider's id", Spans: visible.Line(call.CallID, 80)},
	}
}

// callOf finds the call that the query names, and records the view.
func (c *Console) callOf(r *http.Request, id auth.Identity) (projections.Call, error) {
	if err := only(r, "session", "batch", "index", "of", "from"); err != nil {
		return projections.Call{}, err
	}
	q := r.URL.Query()
	index, err := strconv.Atoi(q.Get("index"))
	if err != nil {
		return projections.Call{}, errQuery
	}
	if err := c.mayReadSession(r.Context(), id, q.Get("session")); err != nil {
		return projections.Call{}, err
	}
	call, err := c.views.Call(r.Context(), q.Get("session"), events.CallKey{BatchID: q.Get("batch"), Index: index})
	if err == nil {
		c.note(r.Context(), id, clip("call "+call.Key().String()), call.Session)
	}
	return call, err
}

// callPayload returns the text of a call that the query's "of" names.
func (c *Console) callPayload(r *http.Request, id auth.Identity) (call projections.Call, of string, text []byte, err error) {
	if call, err = c.callOf(r, id); err != nil {
		return call, "", nil, err
	}
	ref, carrier := call.Current()
	of = r.URL.Query().Get("of")
	switch {
	case of == "result" && call.Result != nil && call.Result.Result != nil:
		ref, carrier = call.Result.Result, call.Result.EventID
	case of != "arguments":
		return call, "", nil, errQuery
	}
	text, err = c.payload(r.Context(), carrier, ref)
	return call, of, text, err
}

func (c *Console) callText(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	call, of, text, err := c.callPayload(r, id)
	if err != nil {
		return err
	}
	key := "of=" + of + "&" + callQuery(call.Session, call.CallKey)
	title := map[string]string{"arguments": "Arguments", "result": "Result"}[of] + " of " + visible.String(call.Tool)
	return c.wholeText(w, r, id, wholeOf{
		Title: title, Back: callPath(call.Session, call.CallKey), Base: "/call/text?" + key + "&", Download: "/call/download?" + key, Text: text,
	})
}

func (c *Console) callDownload(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	_, of, text, err := c.callPayload(r, id)
	if err != nil {
		return err
	}
	download(w, map[string]string{"arguments": "arguments.json", "result": "result.bin"}[of], text)
	return nil
}

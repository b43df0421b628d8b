package ui

import (
	"context"
	"net/http"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// pageRows is how many entries a page of a list has.
const pageRows = 40

// historyView is a page of calls, the newest first.
type historyView struct {
	Form   historyForm
	Chips  []filterChip
	Clear  string // the path without filters; "" where there are none
	Rows   []historyRow
	Looked string // how far back a search looked before this page was full
	On     string // the path that goes on from there
	Empty  string // why there are no rows
	Tail   string // the path of this page, where it is one into which new calls come
	Export string // the path that exports the list
	Newest string // the path of the first page; "" on it
	Newer  string
	Older  string
}

type historyRow struct {
	ID       string // of the row among its page
	When     whenView
	Chip     chip
	Marks    []chip // what is out of the ordinary
	Tool     []visible.Span
	Agent    string
	Summary  []visible.Span
	Found    *foundView
	By       string
	Waited   string
	Place    string
	PlaceRef string
	Href     string
}

func (c *Console) history(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := paramsOf(r, append(lookupParams(), "before", "after")...)
	if err != nil {
		return err
	}
	l, err := lookupOf(p, id, c.now())
	if err != nil {
		return err
	}
	calls, err := c.historyPage(r.Context(), l, p["before"], p["after"])
	if err != nil {
		return err
	}
	ctx, n := r.Context(), c.names()
	c.note(ctx, id, l.thing(), "")
	v := historyView{
		Rows: c.historyRows(ctx, n, calls.Items), Chips: chipsOf(ctx, n, l.on(), l.period, "/history"), Export: l.fixed().path("/history/export"),
	}
	if v.Form, err = c.historyForm(ctx, n, id, l, calls.Items); err != nil {
		return err
	}
	v.links(l, p, calls)
	v.words(calls, c.views.Status())
	s := c.shell(id, "History", "/history")
	s.Search, s.Keep = visible.String(l.Query), l.fields()
	return c.page(w, r, http.StatusOK, s, historyPage(v))
}

// historyPage reads the calls of a page: those before a place, those after one,
// or the newest.
func (c *Console) historyPage(ctx context.Context, l lookup, before, after string) (projections.Page[projections.Call], error) {
	if after == "" {
		return c.views.History(ctx, l.Filter, before, pageRows)
	}
	var page projections.Page[projections.Call]
	if before != "" {
		return page, parameter("after", "give before or after, not both")
	}
	place, err := l.Place(after)
	if err != nil {
		return page, err
	}
	page.Items, err = c.views.Newer(ctx, l.Filter, place, pageRows)
	if len(page.Items) > 0 {
		slices.Reverse(page.Items)
		page.Next = l.Cursor(page.Items[len(page.Items)-1].At)
	}
	return page, err
}

// links leads to other parts of the list, under the same filter. Times that
// count from now stay what they are on this page.
func (v *historyView) links(l lookup, p params, page projections.Page[projections.Call]) {
	if len(v.Chips) > 0 {
		v.Clear = "/history"
	}
	fixed := l.fixed()
	first := p["before"] == "" && p["after"] == ""
	if !first {
		v.Newest = l.path("/history")
	}
	if !first && len(page.Items) > 0 {
		v.Newer = fixed.path("/history", "after", l.Cursor(page.Items[0].At))
	}
	if first && l.to == "" {
		v.Tail = l.path("/history")
	}
	v.Older, v.On, v.Looked = onward(page, fixed.path("/history", "before", page.Next))
}

// onward says where a list goes on: older is its next page; where a page is not
// full because it took too long to fill, on is that page instead, and looked says
// how far this one came.
func onward[T any](page projections.Page[T], next string) (older, on, looked string) {
	switch {
	case page.Next == "":
		return "", "", ""
	case page.Reached == (events.Position{}):
		return next, "", ""
	}
	return "", next, "Looked back to " + clockDate(at(page.Reached)) + " UTC, and found no more so far."
}

// words says what a page without all its rows, or without any, means.
func (v *historyView) words(page projections.Page[projections.Call], status projections.Status) {
	switch {
	case len(page.Items) > 0:
	case v.On != "":
		v.Empty = "Nothing found so far."
	case v.Newest != "":
		v.Empty = "Nothing there."
	case status.Rebuilding != nil:
		v.Empty = "Nothing found. The views are being built: what is not in them yet is not found."
	case len(v.Chips) > 0:
		v.Empty = "No call matches these filters."
	default:
		v.Empty = "No call is on record yet."
	}
}

// historyRows are calls in a list.
func (c *Console) historyRows(ctx context.Context, n *names, calls []projections.Call) []historyRow {
	rows, day, broken := make([]historyRow, 0, len(calls)), "", c.brokenIn(ctx, calls)
	for _, call := range calls {
		row := c.historyRow(ctx, n, call, day)
		if broken[callOfSession{call.Session, call.CallKey}] {
			row.Marks = append(row.Marks, chip{"no", "warn", "Broke a promise"})
		}
		rows, day = append(rows, row), row.When.Day
	}
	return rows
}

// historyRow is a call in a list, below one of the given day.
func (c *Console) historyRow(ctx context.Context, n *names, call projections.Call, above string) historyRow {
	ref, carrier := call.Current()
	return historyRow{
		ID: rowID(call.At), When: when(call.At, above), Chip: callChip(call), Marks: enforcementMarks(call), Tool: slim(visible.Line(call.Tool, 60), 240),
		Agent: agentName(call.Agent), Summary: slim(c.summaryOf(ctx, carrier, ref), 320), Found: foundOf(call.Found), By: decidedBy(ctx, n, call),
		Waited: waited(call, c.now()), Place: place(call.At), PlaceRef: placePath(call.At), Href: callPath(call.Session, call.CallKey),
	}
}

// rowID names a row of a page by its place in the log.
func rowID(p events.Position) string {
	return "c" + digits(uint64(p.Partition)) + "-" + digits(p.Offset)
}

// enforcementMarks mark a call whose start this gate does not hold.
func enforcementMarks(call projections.Call) []chip {
	switch call.Enforcement {
	case events.Cooperative:
		return []chip{{"plain", "", "By the caller's word"}}
	case events.Observed:
		return []chip{{"plain", "", "Seen from outside"}}
	case events.Enforced:
	}
	return nil
}

// callOfSession names a call in all of the log.
type callOfSession struct {
	session string
	key     events.CallKey
}

// brokenIn are the calls among these by which the watch saw an invariant break.
func (c *Console) brokenIn(ctx context.Context, calls []projections.Call) map[callOfSession]bool {
	broken, asked := map[callOfSession]bool{}, map[string]bool{}
	for _, call := range calls {
		if asked[call.Session] {
			continue
		}
		asked[call.Session] = true
		violations, err := c.views.ViolationsOf(ctx, call.Session, maxBroken)
		if err != nil {
			c.logger.ErrorContext(ctx, "violations could not be read", "error", err.Error())
			continue
		}
		for _, v := range violations {
			broken[callOfSession{v.Session, v.Key}] = true
		}
	}
	return broken
}

// maxBroken is how many violations of a session are looked at for a list.
const maxBroken = 200

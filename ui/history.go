package ui

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

const (
	pageRows = 50
	maxTools = 200 // names that a history offers to filter by
)

// historyView is a page of calls, the newest first.
type historyView struct {
	Rows    []historyRow
	Tools   []option
	States  []option
	Session string
	Clear   string // the path without filters; "" where there are none
	Newest  string // the path of the first page; "" on it
	Older   string
}

type option struct {
	Value, Label string
	Selected     bool
}

type historyRow struct {
	When    whenView
	Chip    chip
	Tool    []visible.Span
	Agent   string
	Summary []visible.Span
	By      string
	Waited  string
	Place   string
	Href    string
}

func (c *Console) history(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "tool", "state", "session", "before"); err != nil {
		return err
	}
	query := r.URL.Query()
	f := projections.Filter{
		Tool: query.Get("tool"), State: projections.CallState(query.Get("state")), Session: query.Get("session"), Reader: reader(id),
	}
	if f.State != "" && !slices.Contains(projections.CallStates(), f.State) {
		return errQuery
	}
	ctx := r.Context()
	page, err := c.views.History(ctx, f, query.Get("before"), pageRows)
	if err != nil {
		return err
	}
	tools, err := c.views.Tools(ctx, maxTools)
	if err != nil {
		return err
	}
	c.note(ctx, id, "history", "")
	v := historyView{Session: visible.String(f.Session), Tools: toolOptions(tools, f.Tool), States: stateOptions(f.State)}
	n, day := c.names(), ""
	for _, call := range page.Items {
		row := c.historyRow(ctx, n, call, day)
		v.Rows, day = append(v.Rows, row), row.When.Day
	}
	v.links(f, query.Get("before"), page.Next)
	return c.page(w, r, http.StatusOK, c.shell(id, "History", "/history"), historyPage(v))
}

// historyRow is a call in a list, below one of the given day.
func (c *Console) historyRow(ctx context.Context, n *names, call projections.Call, above string) historyRow {
	ref, carrier := call.Current()
	return historyRow{
		When: when(call.At, above), Chip: callChip(call), Tool: visible.Line(call.Tool, 60), Agent: agentName(call.Agent),
		Summary: c.summaryOf(ctx, carrier, ref), By: decidedBy(ctx, n, call), Waited: waited(call, c.now()),
		Place: place(call.At), Href: callPath(call.Session, call.CallKey),
	}
}

// links leads to other parts of the list, under the same filter.
func (v *historyView) links(f projections.Filter, before, next string) {
	q := url.Values{}
	for name, value := range map[string]string{"tool": f.Tool, "state": string(f.State), "session": f.Session} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) > 0 {
		v.Clear = "/history"
	}
	if before != "" {
		v.Newest = "/history?" + q.Encode()
	}
	if next != "" {
		q.Set("before", next)
		v.Older = "/history?" + q.Encode()
	}
}

func toolOptions(tools []string, selected string) []option {
	if selected != "" && !slices.Contains(tools, selected) {
		tools = append([]string{selected}, tools...)
	}
	out := make([]option, 0, len(tools))
	for _, t := range tools {
		if visible.String(t) == t { // a value that a browser posts back as it is
			out = append(out, option{Value: t, Label: t, Selected: t == selected})
		}
	}
	return out
}

func stateOptions(selected projections.CallState) []option {
	out := make([]option, 0, len(projections.CallStates()))
	for _, s := range projections.CallStates() {
		out = append(out, option{Value: string(s), Label: stateWord(s), Selected: s == selected})
	}
	return out
}

// stateWord is a state in the words of the chips.
func stateWord(s projections.CallState) string {
	switch s {
	case projections.CallProposed:
		return "asked for"
	case projections.CallDecided:
		return "approved, not started"
	case projections.CallState(events.StatusOK):
		return "ran"
	case projections.CallState(events.StatusError):
		return "failed or not run"
	case projections.CallState(events.StatusDeclined):
		return "declined or denied"
	default:
		return string(s)
	}
}

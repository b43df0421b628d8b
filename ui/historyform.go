package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// historyForm is the form that makes a history's address.
type historyForm struct {
	Query                                       string // what the search box holds; "" where a form cannot send it
	States, Tools, Agents, Rules, Deciders, Ask []option
	Session, From, To                           string
	More                                        bool // a filter that is folded away is on
}

type option struct {
	Value, Label string
	Selected     bool
}

// bare reports whether a browser sends the label where an option has no value: it
// then needs none. Browsers join white space.
func (o option) bare() bool {
	return o.Value == o.Label && strings.Join(strings.Fields(o.Label), " ") == o.Label
}

// historyForm offers what there is to filter by.
func (c *Console) historyForm(ctx context.Context, n *names, id auth.Identity, l lookup, calls []projections.Call) (historyForm, error) {
	f := historyForm{
		Query: sendable(l.Query), States: stateOptions(l), Session: visible.String(l.Session), From: visible.String(l.from), To: visible.String(l.to),
		More: l.Rule != "" || l.Decider != "" || l.Asker != "" || l.Session != "",
	}
	all := namesOn(calls)
	if err := c.offers.add(ctx, c, id, n, &all); err != nil {
		return f, err
	}
	f.Tools, f.Agents, f.Rules = options(all.tools, l.Tool), options(all.agents, l.Agent), options(all.rules, l.Rule)
	f.Deciders, f.Ask = peopleOptions(ctx, n, all.deciders, l.Decider), peopleOptions(ctx, n, all.askers, l.Asker)
	return f, nil
}

// sendable is a value that a form can send as it is; "" where it cannot, since a
// page may not hold it.
func sendable(s string) string {
	if visible.String(s) != s {
		return ""
	}
	return s
}

// namesOn are the names on a page.
func namesOn(calls []projections.Call) offered {
	var o offered
	for _, c := range calls {
		o.tools, o.agents, o.rules = append(o.tools, c.Tool), append(o.agents, c.Agent.Name), append(o.rules, c.Rule)
		o.askers = append(o.askers, c.Principal)
		if c.Request != nil && c.Request.End != nil && c.Request.End.Actor != nil {
			o.deciders = append(o.deciders, c.Request.End.Actor.Person)
		}
	}
	return o
}

// options offers names once each, in order. A name that no browser would send
// back as it is cannot be chosen here; rows lead to it.
func options(names []string, selected string) []option {
	if selected != "" {
		names = append(names, selected)
	}
	slices.Sort(names)
	var out []option
	for _, name := range slices.Compact(names) {
		if sendable(name) != "" {
			out = append(out, option{Value: name, Label: name, Selected: name == selected})
		}
	}
	return out
}

func peopleOptions(ctx context.Context, n *names, people []string, selected string) []option {
	out := options(people, selected)
	for i := range out {
		out[i].Label = n.of(ctx, out[i].Value)
	}
	slices.SortFunc(out, func(a, b option) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.Value, b.Value))
	})
	return out
}

// stateOptions are the outcomes, some of them together, and what is chosen.
func stateOptions(l lookup) []option {
	out := []option{
		{Value: "error,ambiguous", Label: "failed, not run or ambiguous"},
		{Value: "declined,expired,cancelled,stale", Label: "did not run"},
	}
	for _, s := range projections.CallStates() {
		out = append(out, option{Value: string(s), Label: stateWord(s)})
	}
	known := false
	for i := range out {
		out[i].Selected = out[i].Value == l.state
		known = known || out[i].Selected
	}
	if l.state != "" && !known {
		out = append(out, option{Value: l.state, Label: valueWords("/history", field{"state", l.state}), Selected: true})
	}
	return out
}

// stateWord is a state in the words of the chips.
func stateWord(s projections.CallState) string {
	switch s {
	case projections.CallProposed:
		return "asked for"
	case projections.CallDecided:
		return "decided, not ended"
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

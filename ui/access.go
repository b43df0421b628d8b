package ui

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// accessView is a page of the access log, the newest act first.
type accessView struct {
	People, Actions, Outcomes []option
	From, To                  string
	Chips                     []filterChip
	Clear                     string
	Rows                      []accessRow
	Looked, On                string
	Empty                     string
	Export                    string
	Newest, Older             string
}

type accessRow struct {
	When     whenView
	Chip     chip
	Who      string
	Roles    string
	Did      string
	Thing    []visible.Span
	Href     string // of the thing; "" where it has no page
	Reason   []visible.Span
	Via      string
	Place    string
	PlaceRef string
}

// accessLookup is the filter of the access log as an address writes it.
type accessLookup struct {
	projections.AccessFilter
	period
}

func accessParams() []string { return []string{"person", "action", "outcome", "from", "to"} }

func (c *Console) accessLookupOf(p params) (accessLookup, error) {
	t, err := periodOf(p, c.now())
	if err != nil {
		return accessLookup{}, err
	}
	outcome, err := p.oneOf("outcome", events.AccessOK, events.AccessRefused)
	return accessLookup{period: t, AccessFilter: projections.AccessFilter{
		Person: p["person"], Action: p["action"], Outcome: outcome, From: t.begin, Until: t.end,
	}}, err
}

// all are the filters that narrow, as they were written.
func (l accessLookup) all() map[string]string {
	all := map[string]string{"person": l.Person, "action": l.Action, "outcome": l.Outcome, "from": l.from, "to": l.to}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// fixed is the lookup with times that mean the same at any time.
func (l accessLookup) fixed() accessLookup {
	l.period = l.period.fixed()
	return l
}

func (c *Console) accessLog(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := paramsOf(r, append(accessParams(), "before")...)
	if err != nil {
		return err
	}
	l, err := c.accessLookupOf(p)
	if err != nil {
		return err
	}
	ctx, n := r.Context(), c.names()
	n.known[id.Person] = visible.String(id.Name)
	page, err := c.views.AccessLog(ctx, l.AccessFilter, p["before"], pageRows)
	if err != nil {
		return err
	}
	c.note(ctx, id, "access log", "")
	v := accessView{
		From: visible.String(l.from), To: visible.String(l.to), Outcomes: outcomeOptions(l.Outcome), Actions: actionOptions(page.Items, l.Action),
		Chips: chipsOf(ctx, n, inOrder(l.all(), accessParams()...), l.period, "/access"), Export: pathOf("/access/export", l.fixed().all()),
	}
	all := offered{deciders: peopleOf(page.Items)}
	if err := c.offers.add(ctx, c, id, n, &all); err != nil {
		return err
	}
	v.People = peopleOptions(ctx, n, all.deciders, l.Person)
	day := ""
	for _, a := range page.Items {
		row := c.accessRow(ctx, n, a, day)
		v.Rows, day = append(v.Rows, row), row.When.Day
	}
	v.links(l, p, page)
	return c.page(w, r, http.StatusOK, c.shell(id, "Access", "/access"), accessPage(v))
}

// peopleOf are those who acted.
func peopleOf(page []projections.Access) []string {
	var people []string
	for _, a := range page {
		if a.Actor != nil {
			people = append(people, a.Actor.Person)
		}
	}
	return people
}

// links leads to other parts of the list, and says what there is none of.
func (v *accessView) links(l accessLookup, p params, page projections.Page[projections.Access]) {
	if len(v.Chips) > 0 {
		v.Clear = "/access"
	}
	if p["before"] != "" {
		v.Newest = pathOf("/access", l.all())
	}
	v.Older, v.On, v.Looked = onward(page, pathOf("/access", l.fixed().all(), "before", page.Next))
	v.Empty = "Nothing is on record here."
	if v.On != "" {
		v.Empty = "Nothing found so far."
	}
}

// accessRow is an act in the list, below one of the given day.
func (c *Console) accessRow(ctx context.Context, n *names, a projections.Access, above string) accessRow {
	row := accessRow{
		When: when(a.At, above), Chip: chip{"ok", "check", "Done"}, Did: actionWord(a.Action), Thing: slim(visible.Line(a.Resource, 100), 320), Href: c.thingPath(ctx, a),
		Reason: slim(visible.Line(a.Reason, 160), 320), Via: visible.String(a.Via), Place: place(a.At), PlaceRef: placePath(a.At), Who: "nobody who signed in",
	}
	if a.Outcome == events.AccessRefused {
		row.Chip = chip{"no", "cross", "Refused"}
	}
	if a.Actor != nil {
		row.Who, row.Roles = shortID(n.of(ctx, a.Actor.Person)), visible.String(strings.Join(a.Actor.Roles, ", "))
	}
	return row
}

// shortID is the beginning of an id of ours, in a place beside which the whole can
// be reached; anything else as it is.
func shortID(name string) string {
	if _, err := uuid.Parse(name); err == nil {
		return name[:8] + "…"
	}
	return name
}

// thingPath is the page of the thing that was acted on, "" where it has none.
func (c *Console) thingPath(ctx context.Context, a projections.Access) string {
	if _, err := uuid.Parse(a.Resource); err == nil {
		if _, err := c.views.Request(ctx, a.Resource); err == nil {
			return requestPath(a.Resource)
		}
	}
	return sessionHref(a.Session)
}

// actionWord says what somebody did.
func actionWord(action string) string {
	switch action {
	case "view":
		return "looked at"
	case "open":
		return "tried to open"
	case "decide":
		return "decided"
	case "sign-in":
		return "signed in"
	case "sign-in-link":
		return "made a sign-in link"
	case "sign-out":
		return "signed out"
	case "export":
		return "began an export"
	case "exported":
		return "ended an export"
	case "policy-change":
		return "changed the policy"
	default:
		return visible.String(action)
	}
}

func outcomeOptions(selected string) []option {
	var out []option
	for _, o := range []string{events.AccessOK, events.AccessRefused} {
		out = append(out, option{Value: o, Label: outcomeWord(o), Selected: o == selected})
	}
	return out
}

func outcomeWord(outcome string) string {
	if outcome == events.AccessOK {
		return "done"
	}
	return visible.String(outcome)
}

// actionOptions are the acts that the console records, and those on the page.
func actionOptions(page []projections.Access, selected string) []option {
	actions := []string{"view", "open", "decide", "sign-in", "sign-in-link", "sign-out", "export", "exported"}
	for _, a := range page {
		actions = append(actions, a.Action)
	}
	out := options(actions, selected)
	for i := range out {
		out[i].Label = actionWord(out[i].Value)
	}
	slices.SortFunc(out, func(a, b option) int { return strings.Compare(a.Label, b.Label) })
	return out
}

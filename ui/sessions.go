package ui

import (
	"context"
	"maps"
	"net/http"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// sessionsView is a page of sessions, the newest first.
type sessionsView struct {
	Form          sessionsForm
	Chips         []filterChip
	Clear         string
	Rows          []sessionRow
	Looked, On    string
	Empty         string
	Tail          string // the path of this page, where it is one into which new sessions come
	Newest, Older string
}

type sessionsForm struct {
	States, Agents, Askers, Watch []option
	From, To                      string
}

type sessionRow struct {
	Row   string // its name among the rows of a page
	When  whenView
	Chip  chip
	Watch chip
	Title []visible.Span // the first query, theirs
	ID    []visible.Span
	Agent string
	By    string
	Calls string
	Href  string
}

// Values of the parameter watch: sessions in which the watch saw an invariant
// break, and those with starts that it cannot judge.
const (
	brokenSessions     = "violations"
	unverifiedSessions = "unverified"
)

// sessionLookup is the filter of the list of sessions as an address writes it.
type sessionLookup struct {
	projections.SessionFilter
	period
}

// sessionStates are the states by which sessions can be filtered.
func sessionStates() []string {
	return []string{
		string(projections.SessionWaiting), string(projections.SessionRunning), string(projections.SessionIdle), string(projections.SessionBlocked),
	}
}

func (c *Console) sessionLookupOf(p params, id auth.Identity) (sessionLookup, error) {
	t, err := periodOf(p, c.now())
	if err != nil {
		return sessionLookup{}, err
	}
	state, err := p.oneOf("state", sessionStates()...)
	if err != nil {
		return sessionLookup{}, err
	}
	watch, err := p.oneOf("watch", brokenSessions, unverifiedSessions)
	return sessionLookup{period: t, SessionFilter: projections.SessionFilter{
		State: projections.SessionState(state), Agent: p["agent"], Asker: p["asker"], From: t.begin, Until: t.end, Reader: reader(id),
		Broken: watch == brokenSessions, Unverified: watch == unverifiedSessions,
	}}, err
}

// all are the filters that narrow, as they were written.
func (l sessionLookup) all() map[string]string {
	all := map[string]string{"state": string(l.State), "agent": l.Agent, "asker": l.Asker, "from": l.from, "to": l.to}
	switch {
	case l.Broken:
		all["watch"] = brokenSessions
	case l.Unverified:
		all["watch"] = unverifiedSessions
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// fixed is the lookup with times that mean the same at any time.
func (l sessionLookup) fixed() sessionLookup {
	l.period = l.period.fixed()
	return l
}

// on are the filters that narrow, in the order in which pages speak of them.
func (l sessionLookup) on() []field {
	return inOrder(l.all(), "state", "watch", "agent", "asker", "from", "to")
}

func (c *Console) sessions(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := paramsOf(r, "state", "agent", "asker", "watch", "from", "to", "before")
	if err != nil {
		return err
	}
	l, err := c.sessionLookupOf(p, id)
	if err != nil {
		return err
	}
	ctx, n := r.Context(), c.names()
	page, err := c.views.FindSessions(ctx, l.SessionFilter, p["before"], pageRows)
	if err != nil {
		return err
	}
	c.note(ctx, id, "sessions", "")
	v, day := sessionsView{}, ""
	for _, s := range page.Items {
		row := c.sessionRow(ctx, n, s, day)
		v.Rows, day = append(v.Rows, row), row.When.Day
	}
	if v.Form, err = c.sessionsForm(ctx, n, id, l, page.Items); err != nil {
		return err
	}
	v.Chips = chipsOf(ctx, n, l.on(), l.period, "/sessions")
	v.links(l, p, page)
	return c.page(w, r, http.StatusOK, c.shell(id, "Sessions", "/sessions"), sessionsPage(v))
}

// sessionRow is a session in the list, below one of the given day.
func (c *Console) sessionRow(ctx context.Context, n *names, s projections.Session, above string) sessionRow {
	return sessionRow{
		Row: rowID(s.At), When: when(s.At, above), Chip: sessionChip(s), Watch: watchChip(s), Title: slim(c.titleOf(ctx, s, 120), 320), ID: slim(visible.Line(s.ID, 40), 240),
		Agent: visible.String(s.Agent), By: n.of(ctx, s.Principal), Calls: group(s.Calls), Href: sessionPath(s.ID),
	}
}

// links leads to other parts of the list, and says what there is none of.
func (v *sessionsView) links(l sessionLookup, p params, page projections.Page[projections.Session]) {
	if len(v.Chips) > 0 {
		v.Clear = "/sessions"
	}
	if p["before"] != "" {
		v.Newest = pathOf("/sessions", l.all())
	} else if l.to == "" {
		v.Tail = pathOf("/sessions", l.all())
	}
	v.Older, v.On, v.Looked = onward(page, pathOf("/sessions", l.fixed().all(), "before", page.Next))
	switch {
	case v.On != "":
		v.Empty = "Nothing found so far."
	case len(v.Chips) > 0:
		v.Empty = "No session matches these filters."
	default:
		v.Empty = "There is no session to show."
	}
}

// sessionsForm offers what there is to filter by.
func (c *Console) sessionsForm(ctx context.Context, n *names, id auth.Identity, l sessionLookup, page []projections.Session) (sessionsForm, error) {
	var all offered
	for _, s := range page {
		all.agents, all.askers = append(all.agents, s.Agent), append(all.askers, s.Principal)
	}
	if err := c.offers.add(ctx, c, id, n, &all); err != nil {
		return sessionsForm{}, err
	}
	f := sessionsForm{
		Agents: options(all.agents, l.Agent), Askers: peopleOptions(ctx, n, all.askers, l.Asker),
		Watch: []option{
			{Value: brokenSessions, Label: watchWord(brokenSessions), Selected: l.Broken},
			{Value: unverifiedSessions, Label: watchWord(unverifiedSessions), Selected: l.Unverified},
		},
		From: visible.String(l.from), To: visible.String(l.to),
	}
	for _, s := range sessionStates() {
		f.States = append(f.States, option{Value: s, Label: sessionWord(s), Selected: s == string(l.State)})
	}
	return f, nil
}

// sessionWord is a session's state in the words of the chips.
func sessionWord(state string) string {
	switch projections.SessionState(state) {
	case projections.SessionWaiting:
		return "waits for people"
	case projections.SessionIdle:
		return "finished"
	case projections.SessionRunning, projections.SessionBlocked:
	}
	return state
}

// titleOf is what a session was first asked, in one line.
func (c *Console) titleOf(ctx context.Context, s projections.Session, most int) []visible.Span {
	if s.Title == nil {
		return visible.Line("no query on record", most)
	}
	b, err := c.views.Text(ctx, "", s.Title)
	if err != nil {
		return visible.Line(missing(err), most)
	}
	return visible.Line(string(b), most)
}

func sessionChip(s projections.Session) chip {
	switch s.State {
	case projections.SessionWaiting:
		return chip{"wait", "clock", count(s.Waiting, "request waits", "requests wait")}
	case projections.SessionRunning:
		return chip{"busy", "run", "Running"}
	case projections.SessionBlocked:
		return chip{"odd", "warn", "Blocked"}
	case projections.SessionIdle:
	}
	return chip{"gone", "check", "Finished"}
}

package ui

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// maxDefinitions is how many definitions of a tool its page lists.
const maxDefinitions = 20

// toolView is one tool: what it is, what it was, and what came of it.
type toolView struct {
	Name        []visible.Span
	Notes       []visible.Note
	Policy      chip
	Words       string
	Facts       []factView
	Outcomes    stackView
	Description *textView
	Definition  *textView
	Laid        *visible.Text // the definition laid out; nil where it is no JSON
	Definitions []definitionRow
	Standing    chip // where nobody accepted the newest
	History     string
}

// definitionRow is one definition of a thing.
type definitionRow struct {
	When   whenView
	Digest string
	Place  string
	Now    bool
	// Accepted says when and how it was accepted; "" where nobody did.
	Accepted string
	Href     string // of the request by which it was; "" where there is none
}

func (c *Console) tool(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "name"); err != nil {
		return err
	}
	name := r.URL.Query().Get("name")
	ctx, now := r.Context(), c.now()
	list, err := c.views.Definitions(ctx, events.DefineTool, name, maxDefinitions)
	if err != nil {
		return err
	}
	stats, err := c.views.ToolStats(ctx, now.Add(-toolSpan), now)
	if err != nil {
		return err
	}
	v := toolView{
		Name: visible.Line(name, 100), Notes: visible.NameNotes(name), History: historyPath("tool", name),
		Definitions: definitionRows(list),
	}
	called := v.count(stats, name)
	if len(list) == 0 && !called {
		return errNotFound
	}
	accepted, err := c.views.Accepted(ctx)
	if err != nil {
		return err
	}
	acceptance(ctx, c.names(), v.Definitions, accepted.Tools[name])
	var changed bool
	if v.Standing, changed = standing(accepted.Tools[name]); changed {
		v.Notes = append(v.Notes, visible.Note{Name: "The definition changed", Text: "and nobody has accepted the new one: calls ask until a person approves one.", Warning: true})
	}
	if len(list) > 0 {
		c.note(ctx, id, clip("tool "+name), "")
		c.describe(ctx, &v, name, list[0], changed)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Tool", "/tools"), toolPage(v))
}

// count says what came of the tool, and whether it was counted under its name.
func (v *toolView) count(stats []projections.ToolStat, name string) bool {
	for _, s := range stats {
		if s.Tool != name {
			continue
		}
		row := toolRowOf(s)
		v.Outcomes = row.Outcomes
		v.Facts = append(v.Facts,
			factView{Name: "Calls in 30 days", Value: row.Calls, Href: v.History}, factView{Name: "People were asked about", Value: row.Asked},
			factView{Name: "Of these approved", Value: row.Approved}, factView{Name: "Half ran within", Value: row.Took},
			factView{Name: "Last called", Value: row.Last.words()}, factView{Name: "Defined as now since", Value: row.Changed.words()},
		)
		return true
	}
	return false
}

// words are day and time.
func (w whenView) words() string {
	if w.Day == "" {
		return w.Time
	}
	return w.Day + " " + w.Time + " UTC"
}

// describe shows the newest definition, and what the policy says of it.
func (c *Console) describe(ctx context.Context, v *toolView, name string, newest projections.Definition, changed bool) {
	text, err := c.views.Text(ctx, newest.EventID, newest.Content)
	if err != nil {
		v.Definition = &textView{Missing: missing(err)}
		return
	}
	shown := shownText(text, theirsBudget)
	v.Definition = &shown
	if laid, err := visible.JSON(text, theirsBudget); err == nil {
		v.Laid = &laid
	}
	var d defined
	if json.Unmarshal(text, &d) != nil {
		return
	}
	if d.Description != "" {
		t := shownText([]byte(d.Description), theirsBudget)
		v.Description = &t
	}
	policy, err := c.views.PolicyNow(ctx)
	if err != nil {
		v.Words = noPolicy(err)
	}
	if effect, rule, why, ok := policy.Judge(name, d.Source); ok {
		v.Policy, _ = judged(policy, name, d.Source, changed)
		v.Words = "The policy says " + string(effect) + " (rule " + visible.String(rule) + "): " + visible.String(why) + "."
	}
	v.Facts = append(v.Facts, factView{Name: "Comes from", Value: sourceWords(d.Source)})
}

func definitionRows(list []projections.Definition) []definitionRow {
	out := make([]definitionRow, 0, len(list))
	for i, d := range list {
		out = append(out, definitionRow{When: when(d.At, ""), Digest: string(d.Digest), Place: place(d.At), Now: i == 0})
	}
	return out
}

// noPolicy says why a page cannot tell what the policy says.
func noPolicy(err error) string {
	switch {
	case errors.Is(err, projections.ErrNotFound):
		return "No policy is on the record yet: it is recorded when the gate starts."
	case errors.Is(err, events.ErrNoPayload):
		return "The text of the policy was erased from the record."
	}
	return "The policy on the record could not be read by this version."
}

package ui

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

const (
	toolSpan = 30 * 24 * time.Hour // over which the list of tools counts
	toolRows = 40
)

// toolsView is what agents can run, and what came of it.
type toolsView struct {
	Rows         []toolRow
	Words        string
	First, Later string
	NoPolicy     string // why the page cannot say what the policy says
}

// toolRow is one tool.
type toolRow struct {
	Name     []visible.Span
	Href     string
	Other    bool // all names that no definition gives
	From     string
	Policy   chip
	Rule     string
	Calls    string
	Outcomes stackView
	Asked    string
	Approved string
	Took     string // half within
	Most     string // 95 % within; "" where nothing ran
	Last     whenView
	Changed  whenView
	Standing chip // of its definition, where nobody accepted it
}

// toolRowOf is what the views counted of a tool.
func toolRowOf(t projections.ToolStat) toolRow {
	row := toolRow{
		Name: visible.Line(t.Tool, 60), Href: toolPath(t.Tool), Calls: group(t.Calls), Outcomes: stackOf(outcomeSeries(t.Outcomes)),
		Asked: share(t.Asked, t.Calls), Approved: share(t.Approved, t.Approved+t.Declined), Took: "–",
		Last: whenOnly(t.LastCalled), Changed: whenOnly(t.Changed),
	}
	if t.Duration.Count() > 0 {
		row.Took, row.Most = quantile(t.Duration, 0.5), quantile(t.Duration, 0.95)
	}
	if t.Tool == projections.OtherTool {
		row.Other, row.Href, row.Name = true, "", nil
	}
	return row
}

// whenOnly is a time that may never have come.
func whenOnly(t time.Time) whenView {
	if t.IsZero() {
		return whenView{Time: "never"}
	}
	return whenView{Day: t.UTC().Format(time.DateOnly), Time: clock(t), Stamp: stamp(t)}
}

// toolPath is where a tool's page is. Names are anything.
func toolPath(name string) string { return "/tools/view?" + url.Values{"name": {name}}.Encode() }

func (c *Console) tools(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "from"); err != nil {
		return err
	}
	from, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("from"), "0"))
	if err != nil || from < 0 {
		return errQuery
	}
	ctx, now := r.Context(), c.now()
	stats, err := c.views.ToolStats(ctx, now.Add(-toolSpan), now)
	if err != nil {
		return err
	}
	v := toolsView{Words: count(len(stats), "tool", "tools") + ", the most called first. Counted over the last 30 days; times are UTC."}
	if from > 0 {
		v.First = "/tools"
	}
	from = min(from, len(stats))
	if later := from + toolRows; later < len(stats) {
		v.Later = "/tools?from=" + strconv.Itoa(later)
	}
	policy, err := c.views.PolicyNow(ctx)
	if err != nil {
		v.NoPolicy = noPolicy(err)
	}
	accepted, err := c.views.Accepted(ctx)
	if err != nil {
		return err
	}
	for _, s := range stats[from:min(from+toolRows, len(stats))] {
		row := toolRowOf(s)
		if d := c.definedAs(ctx, s.Tool); !row.Other && d.Source != "" {
			row.From = sourceWords(d.Source)
			var changed bool
			row.Standing, changed = standing(accepted.Tools[s.Tool])
			row.Policy, row.Rule = judged(policy, s.Tool, d.Source, changed)
		}
		v.Rows = append(v.Rows, row)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Tools", "/tools"), toolsPage(v))
}

// defined is what a recorded definition says of a tool.
type defined struct {
	Description string            `json:"description"`
	Source      events.ToolSource `json:"source"`
}

// definedAs reads the newest definition of a tool; what cannot be read is empty.
func (c *Console) definedAs(ctx context.Context, tool string) defined {
	var d defined
	list, err := c.views.Definitions(ctx, events.DefineTool, tool, 1)
	if err != nil || len(list) == 0 {
		return d
	}
	text, err := c.views.Text(ctx, list[0].EventID, list[0].Content)
	if err != nil || json.Unmarshal(text, &d) != nil {
		return defined{}
	}
	return d
}

func sourceWords(s events.ToolSource) string {
	switch s {
	case events.SourceBuiltin:
		return "built in"
	case events.SourceCustom:
		return "a command of the configuration"
	case events.SourceMCP:
		return "an MCP server"
	case events.SourceSkill:
		return "a skill"
	case events.SourceUnknown:
		return "not known"
	}
	return visible.String(string(s))
}

// judged is what the policy says of a tool, whose definition has changed, and
// nobody accepted it, or not.
func judged(p projections.PolicyNow, tool string, source events.ToolSource, changed bool) (c chip, rule string) {
	effect, rule, _, ok := p.Judge(tool, source)
	if !ok {
		return chip{"plain", "", "not known"}, ""
	}
	switch effect {
	case events.EffectAllow:
		if changed {
			break // it asks all the same
		}
		return chip{"ok", "check", "Free"}, visible.String(rule)
	case events.EffectDeny:
		return chip{"no", "cross", "Denied"}, visible.String(rule)
	case events.EffectAsk:
	}
	return chip{"wait", "clock", "People decide"}, visible.String(rule)
}

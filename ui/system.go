package ui

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// systemView is how the program itself is.
type systemView struct {
	Views      []factView
	Rebuilding string // "" where nothing is being built
	Fault      string
	Heads      []headRow
	Aside      []asideRow
	NoAside    string
	AsideWords string
	Processes  []processRow
	Clocks     []processRow
	Build      []factView
	Policy     []factView
	PolicyText *textView
	NoPolicy   string
	PolicyNews *policyNewsView
	Auditor    bool
	Metrics    bool // this program exports metrics
	// What stands where there is none of a kind.
	NoHeads, NoProcesses, NoClocks string
}

// headRow is the head of one partition of the log.
type headRow struct {
	Partition, Size, Root string
}

// asideRow is a record that could not be read or stored.
type asideRow struct {
	When   whenView
	Place  string
	Reason []visible.Span
	Href   string // for auditors: its bytes
}

// How much of a kind the page lists.
const (
	maxAside     = 20
	maxProcesses = 16
)

func (c *Console) system(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r); err != nil {
		return err
	}
	ctx, status := r.Context(), c.views.Status()
	v := systemView{
		Views: c.viewsFacts(status), Rebuilding: rebuildingWords(status.Rebuilding), Fault: visible.String(status.Fault), Heads: headRows(status.Heads),
		Auditor: id.Can(auth.Audit), Metrics: c.opt.Metrics != nil,
	}
	v.none(status.Behind(c.now()))
	if err := c.aside(ctx, &v, status); err != nil {
		return err
	}
	boots, err := c.views.Boots(ctx, maxProcesses)
	if err != nil {
		return err
	}
	clocks, err := c.views.ClockSteps(ctx, maxProcesses)
	if err != nil {
		return err
	}
	v.Processes, v.Clocks = processRows(boots), processRows(clocks)
	v.Build = c.buildFacts(boots)
	c.policyNow(ctx, id, &v)
	v.PolicyNews = c.policyNews()
	return c.page(w, r, http.StatusOK, c.shell(id, "System", "/system"), systemPage(v))
}

// none says what it means that there is none of a kind: nothing, while the views
// lack a part of the log.
func (v *systemView) none(behind bool) {
	v.NoHeads, v.NoAside = "The log is empty.", "None. Every record could be read."
	v.NoProcesses, v.NoClocks = "No process has said that it started: the log is of a test, or older than that record.", "None."
	if behind {
		v.NoHeads, v.NoAside, v.NoProcesses, v.NoClocks = notYet, "None so far.", notYet, "None so far."
	}
}

const notYet = "Not known yet: the views have not read so far."

// viewsFacts are where the views and the live streams stand.
func (c *Console) viewsFacts(s projections.Status) []factView {
	behind := uint64(0)
	if s.Head > s.Records {
		behind = s.Head - s.Records
	}
	lag := "none: every record of the log is shown"
	if behind > 0 || !s.CaughtUp {
		lag = count(int(min(behind, 1<<62)), "record", "records")
		if d := s.Lag(c.now()); d >= time.Second {
			lag += ", " + span(d)
		}
	}
	last := "nothing yet"
	if s.Records > 0 {
		last = place(s.Position) + ", " + clockDate(at(s.Position)) + " UTC"
	}
	waiting, aside := group(s.Pending), count(s.Aside, "record", "records")
	if s.Behind(c.now()) {
		waiting, aside = "not known yet", aside+" so far"
	}
	return []factView{
		{Name: "Read up to", Value: last},
		{Name: "Records read", Value: group(s.Records)},
		{Name: "Records of the log", Value: group(max(s.Head, s.Records))},
		{Name: "Behind the log", Value: lag},
		{Name: "Requests that wait", Value: waiting, Href: "/inbox"},
		{Name: "Set aside", Value: aside, Href: "#aside"},
		{Name: "Live streams open", Value: group(c.streams.Taken())},
	}
}

// rebuildingWords says how far a rebuild is.
func rebuildingWords(r *projections.Rebuilding) string {
	switch {
	case r == nil:
		return ""
	case r.Indexing:
		return "All records are read; the indexes are being made"
	}
	return group(r.Done) + " of " + group(r.Total) + " records are read, " + rebuildingShare(r)
}

// rebuildingShare is how far a rebuild is, in percent.
func rebuildingShare(r *projections.Rebuilding) string {
	if r.Indexing {
		return "indexes are being made"
	}
	return digits(100*min(r.Done, r.Total)/max(1, r.Total)) + " %"
}

func headRows(heads []events.Head) []headRow {
	out := make([]headRow, 0, len(heads))
	for _, h := range heads {
		out = append(out, headRow{Partition: digits(int(h.Partition)), Size: group(h.Size), Root: string(h.Root)})
	}
	return out
}

// aside lists what was set aside. Its bytes are for auditors.
func (c *Console) aside(ctx context.Context, v *systemView, s projections.Status) error {
	list, err := c.views.SetAside(ctx, maxAside)
	if err != nil {
		return err
	}
	for _, a := range list {
		row := asideRow{When: when(a.At, ""), Place: place(a.At), Reason: visible.Line(a.Reason, 300)}
		if v.Auditor {
			row.Href = asidePath(a.At)
		}
		v.Aside = append(v.Aside, row)
	}
	if s.Aside > len(list) {
		v.AsideWords = "The first " + group(len(list)) + " of " + group(s.Aside) + " are listed."
	}
	return nil
}

// policyNow shows the policy that holds now, with its text.
func (c *Console) policyNow(ctx context.Context, id auth.Identity, v *systemView) {
	p, err := c.views.PolicyNow(ctx)
	if err != nil {
		v.NoPolicy = noPolicy(err)
	}
	if errors.Is(err, projections.ErrNotFound) && c.behind() {
		v.NoPolicy = notYet
	}
	if p.Digest == "" {
		return
	}
	v.Policy = []factView{
		{Name: "In short", Value: c.opt.Policy()},
		{Name: "Digest", Value: string(p.Digest)},
		{Name: "On the record since", Value: clockDate(at(p.At)) + " UTC, " + place(p.At), Time: at(p.At)},
	}
	if p.Text != nil {
		c.note(ctx, id, "policy "+short(p.Digest), "")
		t := shownText(p.Text, theirsBudget)
		if laid, err := visible.JSON(p.Text, theirsBudget); err == nil {
			t.Text = laid
		}
		v.PolicyText = &t
	}
}

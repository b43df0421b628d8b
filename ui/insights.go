package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
)

// errSpan is for days that are none, or in the wrong order.
var errSpan = fmt.Errorf("the days are not a span: write both as 2026-11-30, the first first, not more than %d days", projections.MaxSpan/(24*time.Hour))

// insightsView is what came of calls, requests and reviewers in a span of time.
type insightsView struct {
	Spans     []spanLink
	From, To  string // of the form: days
	Words     string // the span
	Empty     string // why there is nothing; "" where there is something
	Facts     []factView
	Calls     columnsView
	Waits     columnsView
	WaitWords string
	Ends      []endRow
	EndsTotal string
	Tools     []toolRow
	Reviewers []reviewerRow
	More      string // who is not listed; "" where all are
	Own       bool   // the reader sees their own row alone
}

// spanLink leads to insights of another span.
type spanLink struct {
	Label, Href string
	Current     bool
}

// spans are the lengths that insights offer.
func spans() []struct {
	name, label string
	length      time.Duration
} {
	const day = 24 * time.Hour
	return []struct {
		name, label string
		length      time.Duration
	}{{"24h", "24 hours", day}, {"7d", "7 days", 7 * day}, {"30d", "30 days", 30 * day}, {"90d", "90 days", 90 * day}}
}

const defaultSpan = "7d"

// How many rows insights have of a kind.
const (
	insightTools = 6
	maxReviewers = 18
)

// insightsSpan reads the span that an address asks for: one of spans, or whole
// days of UTC, the last included.
func (c *Console) insightsSpan(r *http.Request) (name string, from, until time.Time, err error) {
	if err := only(r, "span", "from", "to"); err != nil {
		return "", from, until, err
	}
	q := r.URL.Query()
	if q.Has("from") != q.Has("to") || q.Has("span") && q.Has("from") {
		return "", from, until, errQuery
	}
	if q.Has("from") {
		from, err = time.Parse(time.DateOnly, q.Get("from"))
		last, err2 := time.Parse(time.DateOnly, q.Get("to"))
		if errors.Join(err, err2) != nil || last.Before(from) || last.AddDate(0, 0, 1).Sub(from) > projections.MaxSpan {
			return "", from, until, errSpan
		}
		return "", from, last.AddDate(0, 0, 1), nil
	}
	name = defaultSpan
	if q.Has("span") {
		name = q.Get("span")
	}
	for _, s := range spans() {
		if s.name == name {
			now := c.now().UTC()
			return name, now.Add(-s.length), now, nil
		}
	}
	return "", from, until, errQuery
}

func (c *Console) insights(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	name, from, until, err := c.insightsSpan(r)
	if err != nil {
		return err
	}
	in, err := c.views.Insights(r.Context(), from, until)
	if err != nil {
		return err
	}
	v := insightsOf(in, name)
	n := c.names()
	for _, s := range in.Reviewers {
		if id.Can(auth.Audit) && len(v.Reviewers) < maxReviewers || s.Person == id.Person {
			v.Reviewers = append(v.Reviewers, reviewerRowOf(n.of(r.Context(), s.Person), s))
		}
	}
	v.Own = !id.Can(auth.Audit)
	if more := len(in.Reviewers) - len(v.Reviewers); more > 0 && !v.Own {
		v.More = "The " + group(len(v.Reviewers)) + " who decided most are listed, and not " + group(more) + " others."
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Insights", "/insights"), insightsPage(v))
}

// insightsOf makes a page of what the views counted. name is that of its span,
// "" where it was given by days.
func insightsOf(in projections.Insights, name string) insightsView {
	v := insightsView{
		From: in.From.Format(time.DateOnly), To: in.Until.Add(-time.Second).Format(time.DateOnly),
		Words: "From " + minute(in.From) + " to " + minute(in.Until) + " UTC, by the " + stepWord(in.Step),
	}
	for _, s := range spans() {
		v.Spans = append(v.Spans, spanLink{Label: s.label, Href: "/insights?" + url.Values{"span": {s.name}}.Encode(), Current: s.name == name})
	}
	v.facts(in)
	if proposed(in) == 0 && len(in.Decisions) == 0 {
		v.Empty = "No tool was called in this time, and no request was decided. Look at a longer span, or let an agent work: each call is counted here when it ends."
		return v
	}
	steps := joinedSteps(in.Steps)
	v.Calls = columnsOf("calls", "Calls by how they ended", stepTitle(in.Step), outcomeSeries(nil), callColumns(steps, in.Step))
	v.Waits, v.WaitWords = waitChart(in.TimeToDecide)
	v.ends(in)
	for _, t := range in.Tools[:min(len(in.Tools), insightTools)] {
		if t.Calls > 0 {
			v.Tools = append(v.Tools, toolRowOf(t))
		}
	}
	return v
}

func proposed(in projections.Insights) (n int) {
	for _, s := range in.Steps {
		n += s.Proposed
	}
	return n
}

// facts are the numbers that matter most.
func (v *insightsView) facts(in projections.Insights) {
	ended, people := 0, 0
	for _, s := range in.Steps {
		ended += s.Calls.Total()
	}
	expired, requests := 0, 0
	for _, d := range in.Decisions {
		requests += d.Count
		if d.End == projections.EndExpired {
			expired += d.Count
		}
		if d.Decider == projections.DeciderHuman {
			people += d.Count
		}
	}
	v.EndsTotal = count(requests, "request ended", "requests ended")
	pending := factView{Name: "Waiting now", Value: group(in.Pending), Href: "/inbox"}
	if !in.OldestPending.IsZero() {
		pending.Value += ", since " + minute(in.OldestPending) + " UTC"
	}
	v.Facts = []factView{
		{Name: "Calls asked for", Value: group(proposed(in))},
		{Name: "Calls ended", Value: group(ended)},
		{Name: "Decided by people", Value: group(people)},
		{Name: "Nobody answered in time", Value: group(expired) + " (" + share(expired, requests) + ")"},
		{Name: "Time to decide, half within", Value: quantile(in.TimeToDecide, 0.5)},
		{Name: "95 % within", Value: quantile(in.TimeToDecide, 0.95)},
		pending,
	}
}

// quantile writes an estimate of a distribution; "–" where there is nothing.
func quantile(d projections.Distribution, q float64) string {
	t, ok := d.Quantile(q)
	if !ok {
		return "–"
	}
	if n := len(d.Bounds); t >= time.Duration(d.Bounds[n-1]*float64(time.Second)) {
		return "over " + span(t)
	}
	return "~" + span(t)
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func stepWord(step time.Duration) string {
	if step < 24*time.Hour {
		return "hour"
	}
	return "day"
}

func stepTitle(step time.Duration) string {
	if step < 24*time.Hour {
		return "Hour (UTC)"
	}
	return "Day (UTC)"
}

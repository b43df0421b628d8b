package ui

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/projections"
)

// steps is some neighbouring steps of insights, shown as one.
type steps struct {
	from, until time.Time
	calls       projections.Outcomes
}

// maxColumns is how many columns a chart has: the days of a month.
const maxColumns = 31

// joinedSteps joins neighbouring steps until there are at most maxColumns.
func joinedSteps(in []projections.Interval) []steps {
	each := max(1, (len(in)+maxColumns-1)/maxColumns)
	var out []steps
	for part := range slices.Chunk(in, each) {
		s := steps{from: part[0].From, until: part[len(part)-1].From, calls: projections.Outcomes{}}
		for _, i := range part {
			for status, n := range i.Calls {
				s.calls[status] += n
			}
		}
		out = append(out, s)
	}
	return out
}

func callColumns(all []steps, step time.Duration) []column {
	out := make([]column, 0, len(all))
	for _, s := range all {
		c := column{Label: s.from.Format("2 Jan"), Long: s.from.Format("Mon 2 January")}
		if step < 24*time.Hour {
			c = column{Label: s.from.Format("15:04"), Long: s.from.Format("2 January 15:04")}
		}
		if !s.until.Equal(s.from) {
			c.Long += " to " + s.until.Format("Mon 2 January")
		}
		for _, status := range projections.Statuses() {
			c.Values = append(c.Values, s.calls[status])
		}
		out = append(out, c)
	}
	return out
}

// waitChart is how long people took, in buckets, and that in a sentence.
func waitChart(d projections.Distribution) (columnsView, string) {
	if d.Count() == 0 {
		return columnsView{}, ""
	}
	columns := make([]column, 0, len(d.Counts))
	for i, n := range d.Counts {
		c := column{Values: []int{int(min(n, 1<<40))}}
		switch i {
		case len(d.Bounds):
			c.Label, c.Long = "longer", "longer than "+shortSpan(d.Bounds[i-1])
		case 0:
			c.Label, c.Long = shortSpan(d.Bounds[0]), "up to "+shortSpan(d.Bounds[0])
		default:
			c.Label, c.Long = shortSpan(d.Bounds[i]), shortSpan(d.Bounds[i-1])+" to "+shortSpan(d.Bounds[i])
		}
		columns = append(columns, c)
	}
	v := columnsOf("waits", "Time from request to a person's decision", "Up to", []series{{Class: fillPlain, Words: "decisions"}}, trimmed(columns))
	return v, "Half of the decisions came within " + quantile(d, 0.5) + ", 95 % within " + quantile(d, 0.95) + "."
}

// trimmed leaves out empty columns after the last that is not.
func trimmed(columns []column) []column {
	n := len(columns)
	for n > 1 && columns[n-1].total() == 0 {
		n--
	}
	return columns[:n]
}

// shortSpan writes a bound of a bucket: 2.5 s, 10 min, 4 h.
func shortSpan(seconds float64) string {
	switch {
	case seconds < 60:
		return strconv.FormatFloat(seconds, 'f', -1, 64) + " s"
	case seconds < 3600:
		return strconv.FormatFloat(seconds/60, 'f', -1, 64) + " min"
	}
	return strconv.FormatFloat(seconds/3600, 'f', -1, 64) + " h"
}

// endRow is one way in which requests end.
type endRow struct {
	Class, Words, Count, Share, Width string
	By                                string // who ended them
}

// ends are the ways in which requests ended, the most frequent first.
func (v *insightsView) ends(in projections.Insights) {
	n, by, total := map[projections.RequestEnd]int{}, map[projections.RequestEnd]map[projections.Decider]int{}, 0
	for _, d := range in.Decisions {
		n[d.End] += d.Count
		total += d.Count
		if by[d.End] == nil {
			by[d.End] = map[projections.Decider]int{}
		}
		by[d.End][d.Decider] += d.Count
	}
	all := endSeries(n)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Total, all[a].Total) })
	for _, i := range order {
		s := all[i]
		if s.Total == 0 {
			continue
		}
		v.Ends = append(v.Ends, endRow{
			Class: s.Class, Words: sentenceCase(s.Words), Count: group(s.Total), Share: share(s.Total, total),
			Width: ofWidth(100 * float64(s.Total) / float64(total)), By: deciderWords(by[projections.RequestEnds()[i]]),
		})
	}
}

func deciderWords(n map[projections.Decider]int) string {
	words := map[projections.Decider]string{
		projections.DeciderHuman: "by people", projections.DeciderHandler: "by a handler", projections.DeciderSystem: "by the gate",
	}
	var all []series
	for _, d := range projections.Deciders() {
		if n[d] > 0 {
			all = append(all, series{Words: words[d], Total: n[d]})
		}
	}
	if len(all) == 1 {
		return all[0].Words
	}
	return seriesWords(all)
}

// reviewerRow is how one person decides.
type reviewerRow struct {
	Name, Decisions, Approvals, Changes, Declines string
	Half, Quick, Unseen, Run                      string
	QuickWidth                                    string
	Notice                                        string // what is worth a talk; "" where nothing is
}

// From when a reviewer's row says that it is worth a look.
const (
	fewDecisions = 10 // below it a share means nothing
	muchQuick    = 20 // percent
	longRun      = 50
)

func reviewerRowOf(name string, s projections.ReviewerStat) reviewerRow {
	row := reviewerRow{
		Name: name, Decisions: group(s.Decisions), Approvals: group(s.Approvals), Changes: group(s.Changes), Declines: group(s.Declines),
		Half: quantile(s.TimeToDecide, 0.5), Quick: share(s.Quick, s.Decisions), Unseen: group(s.Unseen), Run: group(s.LongestRun),
		QuickWidth: ofWidth(100 * float64(s.Quick) / float64(max(1, s.Decisions))),
	}
	switch {
	case s.Decisions < fewDecisions:
	case 100*s.Quick >= muchQuick*s.Decisions:
		row.Notice = "decides faster than one can read"
	case s.LongestRun >= longRun:
		row.Notice = "has not declined for long"
	}
	return row
}

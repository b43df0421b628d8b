package projections

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// reading reads tallies of one span, all in one transaction: they are of one
// position.
type reading struct {
	ctx context.Context
	tx  *sql.Tx
	span
}

// inSpan runs f on the tallies of a span.
func (v *Views) inSpan(ctx context.Context, s span, f func(reading) error) error {
	return v.atOnce(ctx, func(tx *sql.Tx) error { return f(reading{ctx: ctx, tx: tx, span: s}) })
}

// sum is a tally with its labels.
type sum struct {
	began   int64
	a, b, c string
	bucket  int
	tally
}

// sums returns the tallies of families in the span, added up by the columns that
// are named (of "began, a, b, c, bucket"), those not named being left at zero.
func (r reading) sums(f family, by ...string) ([]sum, error) {
	columns := []string{"0", "''", "''", "''", "0"}
	for _, name := range by {
		columns[slices.Index([]string{"began", "a", "b", "c", "bucket"}, name)] = name
	}
	n := "sum(n)"
	if f.greatest() {
		n = "max(n)"
	}
	query := "SELECT " + strings.Join(columns, ", ") + ", " + n + ", sum(sum) FROM tallies WHERE step = ? AND family = ? AND began >= ? AND began < ?"
	if len(by) > 0 {
		query += " GROUP BY " + strings.Join(by, ", ")
	}
	return list(r.ctx, r.tx, func(scan func(...any) error) (s sum, err error) {
		var n, total sql.NullInt64
		err = scan(&s.began, &s.a, &s.b, &s.c, &s.bucket, &n, &total)
		s.tally = tally{n: n.Int64, sum: total.Int64}
		return s, err
	}, query, int64(r.step/time.Second), string(f), r.from.Unix(), r.until.Unix())
}

// each calls f for each tally of a family, added up as sums does.
func (r reading) each(f family, use func(sum), by ...string) error {
	all, err := r.sums(f, by...)
	for _, s := range all {
		use(s)
	}
	return err
}

// addTo adds a tally to its bucket of a distribution.
func (s sum) addTo(d *Distribution) {
	if s.bucket >= 0 && s.bucket < len(d.Counts) {
		d.Counts[s.bucket] += uint64(max(0, s.n))
		d.Sum += float64(s.sum) / perSecond
	}
}

func (v *Views) insights(ctx context.Context, s span) (Insights, error) {
	in := Insights{From: s.from, Until: s.until, Step: s.step, TimeToDecide: newDistribution(waitBounds())}
	err := v.inSpan(ctx, s, func(r reading) error {
		for _, read := range []func(*Insights) error{r.intervals, r.decisions, r.reviewers, r.waiting} {
			if err := read(&in); err != nil {
				return err
			}
		}
		var err error
		in.Tools, err = r.tools()
		return err
	})
	return in, err
}

// intervals reads what happened step by step.
func (r reading) intervals(in *Insights) error {
	for at := r.from; at.Before(r.until); at = at.Add(r.step) {
		in.Steps = append(in.Steps, Interval{
			From: at, Calls: Outcomes{}, Decisions: map[RequestEnd]int{}, TimeToDecide: newDistribution(waitBounds()),
		})
	}
	at := func(s sum) *Interval { return &in.Steps[(s.began-r.from.Unix())/int64(r.step/time.Second)] }
	if err := r.each(famProposed, func(s sum) { at(s).Proposed += int(s.n) }, "began"); err != nil {
		return err
	}
	if err := r.each(famEnded, func(s sum) { at(s).Calls[events.Status(s.b)] += int(s.n) }, "began", "b"); err != nil {
		return err
	}
	if err := r.each(famEnds, func(s sum) { at(s).Decisions[RequestEnd(s.a)] += int(s.n) }, "began", "a"); err != nil {
		return err
	}
	return r.each(famWaits, func(s sum) {
		s.addTo(&at(s).TimeToDecide)
		s.addTo(&in.TimeToDecide)
	}, "began", "bucket")
}

func (r reading) decisions(in *Insights) error {
	err := r.each(famEnds, func(s sum) {
		in.Decisions = append(in.Decisions, DecisionCount{
			End: RequestEnd(s.a), Decider: Decider(s.b), Cause: events.Cause(s.c), Count: int(s.n),
		})
	}, "a", "b", "c")
	slices.SortStableFunc(in.Decisions, func(a, b DecisionCount) int { return b.Count - a.Count })
	return err
}

func (r reading) waiting(in *Insights) error {
	var g gauges
	if err := loadGauges(r.ctx, r.tx, &g); err != nil {
		return fmt.Errorf("views: %w", err)
	}
	if g.waiting {
		in.OldestPending = time.UnixMicro(g.oldest).UTC()
	}
	var err error
	in.Pending, err = first(r.ctx, r.tx, one[int], "SELECT count(*) FROM waits")
	return err
}

// reviewers reads how each person decided.
func (r reading) reviewers(in *Insights) error {
	people := map[string]*ReviewerStat{}
	of := func(person string) *ReviewerStat {
		if people[person] == nil {
			people[person] = &ReviewerStat{Person: person, TimeToDecide: newDistribution(waitBounds())}
		}
		return people[person]
	}
	if err := r.each(famReviews, func(s sum) { of(s.a).add(s.b, int(s.n)) }, "a", "b"); err != nil {
		return err
	}
	if err := r.each(famReviewTimes, func(s sum) { s.addTo(&of(s.a).TimeToDecide) }, "a", "bucket"); err != nil {
		return err
	}
	if err := r.each(famReviewStreak, func(s sum) { of(s.a).LongestRun = int(s.n) }, "a"); err != nil {
		return err
	}
	for _, p := range people {
		in.Reviewers = append(in.Reviewers, *p)
	}
	slices.SortFunc(in.Reviewers, func(a, b ReviewerStat) int {
		return cmp.Or(b.Decisions-a.Decisions, cmp.Compare(a.Person, b.Person))
	})
	return nil
}

// add counts what a person said.
func (s *ReviewerStat) add(what string, n int) {
	switch what {
	case reviewQuick:
		s.Quick += n
		return
	case reviewUnseen:
		s.Unseen += n
		return
	case string(events.VerdictDecline):
		s.Declines += n
	case string(events.VerdictModify):
		s.Changes += n
		s.Approvals += n
	default:
		s.Approvals += n
	}
	s.Decisions += n
}

package cases

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/policy"
)

// precision is how exactly the log keeps times.
const precision = time.Microsecond

// lookback is a log that holds calls at a case's times, looked at through the
// console of a node in a time zone.
type lookback struct {
	f       *folder
	node    *process
	zone    string
	written []string    // the times of the case
	times   []time.Time // as the log keeps them
}

// timeFilter is one of filters.json: from is in it, to is not.
type timeFilter struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"expect_count"`
	Note  string `json:"note"`
}

// judgeQuery writes calls at the case's times, and judges what the history
// finds of them, in a process for each of the case's zones.
func judgeQuery(ctx context.Context, o Options, f *folder) error {
	l := lookback{f: f}
	var filters []timeFilter
	var env struct{ TZ []string }
	for name, to := range map[string]any{"times.json": &l.written, "filters.json": &filters, "env.json": &env} {
		if err := json.Unmarshal(f.read(name), to); err != nil {
			return notUnderstood("%s: %v", name, err)
		}
	}
	for _, w := range l.written {
		t, err := time.Parse(time.RFC3339Nano, w)
		if err != nil {
			return notUnderstood("times.json: %v", err)
		}
		l.times = append(l.times, t.Truncate(precision))
	}
	var counts []int
	if f.expect.take("counts", &counts) {
		same(f.report, "the number of counts", len(counts), len(filters))
	}
	var order []jsontext.Value
	f.expect.take("order_indices_by_instant", &order)
	groups, err := readOrder(order)
	if err != nil {
		return err
	}
	for _, l.zone = range env.TZ {
		if _, err := time.LoadLocation(l.zone); err != nil {
			f.report.leave("zone "+l.zone, "this machine does not have it")
			continue
		}
		if err := l.judge(ctx, o, filters, counts, groups); err != nil {
			return fmt.Errorf("TZ=%s: %w", l.zone, err)
		}
	}
	return nil
}

// readOrder reads places of times; those that stand in a list are of one
// instant, and their order among themselves is free.
func readOrder(order []jsontext.Value) ([][]int, error) {
	var groups [][]int
	for _, raw := range order {
		var group []int
		if raw.Kind() == '[' {
			if err := json.Unmarshal(raw, &group); err != nil {
				return nil, notUnderstood("order_indices_by_instant: %v", err)
			}
		} else {
			var one int
			if err := json.Unmarshal(raw, &one); err != nil {
				return nil, notUnderstood("order_indices_by_instant: %v", err)
			}
			group = []int{one}
		}
		groups = append(groups, group)
	}
	return groups, nil
}

// judge judges what one node finds.
func (l lookback) judge(ctx context.Context, o Options, filters []timeFilter, counts []int, groups [][]int) error {
	p := newProvider()
	defer p.Close()
	spec := nodeSpec{House: houseSpec{Policy: policy.Config{}, Provider: p.url()}, Tokens: standardTokens(), Zone: l.zone, Past: l.inOrder()}
	var err error
	if l.node, err = startProcess(ctx, o, spec); err != nil {
		return err
	}
	defer l.node.close()
	if _, err := l.node.question(askViews); err != nil {
		return err
	}
	all, err := l.find(ctx, "", "")
	if err != nil {
		return err
	}
	l.judgeOrder(all, groups)
	for i, filter := range filters {
		found, err := l.find(ctx, filter.From, filter.To)
		if err != nil {
			return err
		}
		same(l.f.report, "filters.json", len(found), filter.Count)
		if i < len(counts) {
			same(l.f.report, "counts", len(found), counts[i])
		}
	}
	return l.judgeInstants(ctx)
}

// inOrder are the times as the case writes them, by instant: the clock of a log
// does not go back.
func (l lookback) inOrder() []string {
	byInstant := slices.Clone(l.written)
	slices.SortStableFunc(byInstant, func(a, b string) int { return instant(a).Compare(instant(b)) })
	return byInstant
}

func instant(written string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, written) // they were read before
	return t
}

// find reads the history of a span, newest first: the page, and the export of
// the same address, which must agree.
func (l lookback) find(ctx context.Context, from, to string) ([]time.Time, error) {
	q := url.Values{"session": {past}}
	if from != "" {
		q.Set("from", from)
		q.Set("to", to)
	}
	res, err := l.node.do(ctx, http.MethodGet, "/history?"+q.Encode(), auditorToken, nil)
	if err != nil || res.status != http.StatusOK {
		return nil, fmt.Errorf("the history from %s to %s was answered with %d: %w", from, to, res.status, err)
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(res.body))
	if err != nil {
		return nil, err
	}
	var found []time.Time
	doc.Find("tbody tr time").Each(func(_ int, s *goquery.Selection) {
		at, err := time.Parse(time.RFC3339Nano, s.AttrOr("datetime", ""))
		l.f.report.check("times are shown with their zone", err == nil, "TZ=%s: %v", l.zone, err)
		found = append(found, at)
	})
	exported, err := l.exported(ctx, q)
	if err != nil {
		return nil, err
	}
	agree := slices.EqualFunc(found, exported, time.Time.Equal)
	l.f.report.check("page and export agree", agree, "TZ=%s: the page has %v, the export %v", l.zone, found, exported)
	return found, nil
}

// exported are the times of an export, newest first.
func (l lookback) exported(ctx context.Context, q url.Values) ([]time.Time, error) {
	export, err := l.node.export(ctx, "/history/export?"+q.Encode(), "ndjson")
	if err != nil {
		return nil, err
	}
	var times []time.Time
	for line := range bytes.Lines(export) {
		var row struct {
			Time    time.Time      `json:"time"`
			Trailer jsontext.Value `json:"trailer"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, err
		}
		if row.Trailer == nil {
			times = append(times, row.Time)
		}
	}
	return times, nil
}

// judgeOrder judges that the whole history is in the order of the instants, and
// that each is what was written.
func (l lookback) judgeOrder(all []time.Time, groups [][]int) {
	r := l.f.report
	slices.Reverse(all)
	if len(groups) == 0 {
		return
	}
	rest := all
	for _, group := range groups {
		got := rest[:min(len(group), len(rest))]
		rest = rest[len(got):]
		var want []time.Time
		for _, i := range group {
			if i >= 0 && i < len(l.times) {
				want = append(want, l.times[i])
			}
		}
		slices.SortFunc(want, time.Time.Compare)
		r.check("order_indices_by_instant", slices.EqualFunc(got, want, time.Time.Equal), "TZ=%s: %v in place of %v", l.zone, got, group)
	}
	r.check("all are found", len(rest) == 0 && len(all) == len(l.times), "TZ=%s: %d of %d, and %d in no order", l.zone, len(all), len(l.times), len(rest))
}

// judgeInstants looks for each time as the case writes it, offset and all: what
// has that instant is found, and nothing beside it.
func (l lookback) judgeInstants(ctx context.Context) error {
	for _, t := range l.times {
		want := 0
		for _, other := range l.times {
			if other.Equal(t) {
				want++
			}
		}
		found, err := l.find(ctx, t.Format(time.RFC3339Nano), t.Add(precision).Format(time.RFC3339Nano))
		if err != nil {
			return err
		}
		same(l.f.report, "each instant alone", len(found), want)
		for _, at := range found {
			l.f.report.check("each instant as it was", at.Equal(t), "TZ=%s: %v is shown as %v", l.zone, t, at)
		}
	}
	return nil
}

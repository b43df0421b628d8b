package projections

import (
	"github.com/prometheus/client_golang/prometheus"
)

// collector exports the totals that come from the log.
type collector struct {
	views              *Views
	families           []exported
	oldest, nextExpiry *prometheus.Desc
}

// NewCollector returns what exports the totals that come from the log. They are
// what the log says, whoever counts and however often: of several processes on
// one log only one should export them.
//
// They appear when the views have first caught up with the log, and never fall:
// what a rebuild counts is shown when it has come as far. A scrape reads memory
// alone, as it was at one position.
func NewCollector(v *Views) prometheus.Collector {
	return &collector{
		views: v, families: exportedFamilies(),
		oldest: prometheus.NewDesc("countersign_approvals_oldest_pending_timestamp_seconds",
			"Log time of the oldest undecided approval request; absent where there is none.", nil, nil),
		nextExpiry: prometheus.NewDesc("countersign_approvals_next_expiry_timestamp_seconds",
			"Log time at which the next undecided approval request expires; absent where there is none.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, e := range c.families {
		ch <- e.desc
	}
	ch <- c.oldest
	ch <- c.nextExpiry
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := c.views.exported.Load()
	if s == nil {
		return // not caught up yet: less than was told before a restart would be a fall
	}
	tallies, gauges := s.snapshot()
	complete(tallies)
	for _, e := range c.families {
		e.collect(ch, tallies)
	}
	if gauges.waiting { // what does not exist is absent, not 0
		ch <- prometheus.MustNewConstMetric(c.oldest, prometheus.GaugeValue, float64(gauges.oldest)/perSecond)
		ch <- prometheus.MustNewConstMetric(c.nextExpiry, prometheus.GaugeValue, float64(gauges.nextExpiry)/perSecond)
	}
}

// complete adds what is exported before it is first counted.
func complete(tallies map[tallyKey]tally) {
	rules := askingRules()
	for k := range tallies {
		if k.family == famPending {
			rules[k.a] = true
		}
	}
	for _, k := range zeros(rules) {
		if _, counted := tallies[k]; !counted {
			tallies[k] = tally{}
		}
	}
}

// collect exports one family out of all tallies.
func (e exported) collect(ch chan<- prometheus.Metric, tallies map[tallyKey]tally) {
	if e.bounds != nil {
		e.collectHistograms(ch, tallies)
		return
	}
	for k, t := range tallies {
		if k.family == e.family {
			l := labels{k.a, k.b, k.c}
			m, err := prometheus.NewConstMetric(e.desc, e.kind, float64(t.n), l[:e.labels]...)
			e.send(ch, m, err)
		}
	}
}

func (e exported) collectHistograms(ch chan<- prometheus.Metric, tallies map[tallyKey]tally) {
	counts, sums := map[labels][]uint64{}, map[labels]int64{} // whole units: a sum must not depend on the order
	for k, t := range tallies {
		if k.family != e.family || k.bucket > len(e.bounds) {
			continue
		}
		l := labels{k.a, k.b, k.c}
		if counts[l] == nil {
			counts[l] = make([]uint64, len(e.bounds)+1)
		}
		counts[l][k.bucket] += uint64(max(0, t.n))
		sums[l] += t.sum
	}
	for l, each := range counts {
		buckets, n := cumulative(e.bounds, each)
		m, err := prometheus.NewConstHistogram(e.desc, n, float64(sums[l])/e.unit, buckets, l[:e.labels]...)
		e.send(ch, m, err)
	}
}

// send gives a metric to the scraper. What cannot be one is told; the rest is
// served.
func (e exported) send(ch chan<- prometheus.Metric, m prometheus.Metric, err error) {
	if err != nil {
		m = prometheus.NewInvalidMetric(e.desc, err)
	}
	ch <- m
}

// cumulative returns buckets as Prometheus has them, and how many there are in
// all.
func cumulative(bounds []float64, counts []uint64) (buckets map[float64]uint64, n uint64) {
	buckets = make(map[float64]uint64, len(bounds))
	for i, bound := range bounds {
		n += counts[i]
		buckets[bound] = n
	}
	return buckets, n + counts[len(bounds)]
}

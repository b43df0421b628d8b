package projections

import (
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Counting. Each record adds to tallies by what the fold said of it, and never
// by a clock: counting the same log again, in whatever batches, gives the same
// numbers. What a batch adds is gathered in a delta, written once at the end of
// the batch in the transaction of the position, and shown to scrapers after the
// commit.

// family names what is counted. The names are in the file: see derivation.
type family string

// The families that are totals of the whole log: what the metrics export. In
// brackets the labels.
const (
	famEvents     family = "events"     // (type)
	famRequests   family = "requests"   // (rule, origin)
	famPending    family = "pending"    // (rule): goes up and down
	famDecisions  family = "decisions"  // (rule, end, decider)
	famLatency    family = "latency"    // (rule, end): from request to end
	famDwell      family = "dwell"      // (end): from first sight to a person's decision
	famBypasses   family = "bypasses"   // (reason)
	famViolations family = "violations" // (invariant)
	famStarts     family = "starts"     // (finding): starts as the watch found them
	famCalls      family = "calls"      // (tool, origin, outcome)
	famDurations  family = "durations"  // (tool, outcome)
	famSizes      family = "sizes"      // (part)
	famAside      family = "aside"      // (projection, reason): records that were set aside
)

// The families that are kept by hour and day: what insights read.
const (
	famProposed     family = "by_proposed"      // (tool)
	famEnded        family = "by_ended"         // (tool, status)
	famRan          family = "by_ran"           // (tool): durations
	famAsked        family = "by_asked"         // (tool)
	famEnds         family = "by_ends"          // (end, decider, cause)
	famToolEnds     family = "by_tool_ends"     // (tool, end)
	famWaits        family = "by_waits"         // (): from request to a person's decision
	famReviews      family = "by_reviews"       // (person, what)
	famReviewTimes  family = "by_review_times"  // (person)
	famReviewStreak family = "by_review_streak" // (person): the greatest
)

// greatest reports whether of a family the greatest value is kept.
func (f family) greatest() bool { return f == famReviewStreak }

// reasonAside is the one reason that is told apart.
const reasonAside = "set_aside"

// What a review is counted as, beside a verdict.
const (
	reviewQuick  = "quick"
	reviewUnseen = "unseen"
)

// tallyKey is what is counted together.
type tallyKey struct {
	step    int64 // seconds; 0: the whole log
	began   int64 // seconds since 1970 UTC
	family  family
	a, b, c string
	bucket  int
}

// tally is a count, and the sum of what was counted.
type tally struct{ n, sum int64 }

// labels are up to three labels of a family.
type labels [3]string

// key is what is counted together under some labels, in the whole log.
func (f family) key(l labels, bucket int) tallyKey {
	return tallyKey{family: f, a: l[0], b: l[1], c: l[2], bucket: bucket}
}

// add adds to a tally of the whole log.
func (d *delta) add(f family, l labels, t tally) { d.put(f.key(l, 0), t) }

// addAt adds to the tallies of the hour and the day of a log time.
func (d *delta) addAt(logTime int64, f family, l labels, t tally) { d.putAt(logTime, f.key(l, 0), t) }

func (d *delta) putAt(logTime int64, k tallyKey, t tally) {
	at := time.UnixMicro(logTime).Unix()
	for _, step := range []time.Duration{hourly, daily} {
		k.step = int64(step / time.Second)
		k.began = at - at%k.step
		d.put(k, t)
	}
}

func (d *delta) put(k tallyKey, t tally) {
	was := d.tallies[k]
	if k.family.greatest() {
		d.tallies[k] = tally{n: max(was.n, t.n)}
		return
	}
	d.tallies[k] = tally{n: was.n + t.n, sum: was.sum + t.sum}
}

// observe adds a time to a distribution of the whole log.
func (d *delta) observe(f family, l labels, bounds []float64, took time.Duration) {
	d.put(f.key(l, bucketOf(bounds, took.Seconds())), tally{1, took.Microseconds()})
}

// observeAt adds a time to the distributions of an hour and a day.
func (d *delta) observeAt(logTime int64, f family, l labels, bounds []float64, took time.Duration) {
	d.putAt(logTime, f.key(l, bucketOf(bounds, took.Seconds())), tally{1, took.Microseconds()})
}

// size adds a size to a distribution of the whole log.
func (d *delta) size(f family, l labels, ref *events.Ref) {
	if ref == nil {
		return
	}
	n := ref.Bytes
	if ref.TruncatedFrom != nil {
		n = ref.TruncatedFrom.Bytes
	}
	d.put(f.key(l, bucketOf(sizeBounds(), float64(n))), tally{1, n})
}

package projections

import "time"

// Distribution is how long things took, in buckets: what is kept of durations,
// so that those of many steps can be added.
type Distribution struct {
	Bounds []float64 // the buckets' upper bounds in seconds, ascending
	Counts []uint64  // each bucket's own count; one more than bounds, for what is beyond the last
	Sum    float64   // seconds
}

func newDistribution(bounds []float64) Distribution {
	return Distribution{Bounds: bounds, Counts: make([]uint64, len(bounds)+1)}
}

// Count is how many there are.
func (d Distribution) Count() (n uint64) {
	for _, c := range d.Counts {
		n += c
	}
	return n
}

// Quantile estimates below which duration a share q of them lies, as Prometheus
// does: even within a bucket. What lies beyond the last bound is told as that.
// false where there are none.
func (d Distribution) Quantile(q float64) (time.Duration, bool) {
	n := d.Count()
	if n == 0 || len(d.Bounds) == 0 {
		return 0, false
	}
	rank, below, lower := q*float64(n), 0.0, 0.0
	for i, bound := range d.Bounds {
		in := float64(d.Counts[i])
		if in > 0 && below+in >= rank {
			return seconds(lower + (bound-lower)*max(0, rank-below)/in), true
		}
		below, lower = below+in, bound
	}
	return seconds(lower), true
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// bucketOf returns the index of the bucket that a value belongs to.
func bucketOf(bounds []float64, value float64) int {
	for i, bound := range bounds {
		if value <= bound {
			return i
		}
	}
	return len(bounds)
}

// waitBounds are the buckets of how long people take, in seconds.
func waitBounds() []float64 {
	return []float64{1, 2.5, 5, 10, 30, 60, 120, 180, 300, 600, 1800, 3600, 14400, 86400}
}

// runBounds are the buckets of how long tools run, in seconds: those of the
// OpenTelemetry conventions for operations of agents.
func runBounds() []float64 {
	return []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

// sizeBounds are the buckets of payload sizes, in bytes: 256 B to 4 MiB.
func sizeBounds() []float64 {
	return []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}
}

package journal

import "time"

// clock gives log time: where the wall clock stood when the journal was opened,
// or where the log ended if that is later, moved on by a clock that nobody sets.
// A wall clock that is put back or forward while the journal is open therefore
// shortens no deadline and lengthens none: log time is off from it by the step
// until the next start, or for as long as the log's end is ahead of it. A
// machine's sleep does not count, for timers do not see it either.
type clock struct {
	base    int64                // microseconds since 1970 UTC
	elapsed func() time.Duration // since base, monotonic
}

// newClock starts a clock for a log that ends at a tree.
func newClock(o Options, t *tree) clock {
	base := o.Clock().UnixMicro()
	for _, e := range t.edges {
		base = max(base, e.logTime)
	}
	if o.elapsed != nil {
		return clock{base, o.elapsed}
	}
	opened := time.Now()
	return clock{base, func() time.Duration { return time.Since(opened) }}
}

// Now returns log time: deadlines in the log are to be compared with it, and not
// with the wall clock. On a journal that is open for reading only it is the wall
// clock.
func (j *Journal) Now() time.Time {
	if j.writer == nil {
		return j.o.Clock()
	}
	return time.UnixMicro(j.writer.clock.now())
}

func (c clock) now() int64 { return c.base + c.elapsed().Microseconds() }

package projections

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
)

func (v *Views) toolStats(ctx context.Context, s span) (stats []ToolStat, err error) {
	err = v.inSpan(ctx, s, func(r reading) error {
		stats, err = r.tools()
		return err
	})
	return stats, err
}

// tools reads what came of each tool.
func (r reading) tools() ([]ToolStat, error) {
	stats := map[string]*ToolStat{}
	of := func(tool string) *ToolStat {
		if stats[tool] == nil {
			stats[tool] = &ToolStat{Tool: tool, Outcomes: Outcomes{}, Duration: newDistribution(runBounds())}
		}
		return stats[tool]
	}
	for _, read := range []func() error{
		func() error { return r.each(famProposed, func(s sum) { of(s.a).Calls = int(s.n) }, "a") },
		func() error {
			return r.each(famEnded, func(s sum) { of(s.a).Outcomes[events.Status(s.b)] = int(s.n) }, "a", "b")
		},
		func() error { return r.each(famAsked, func(s sum) { of(s.a).Asked = int(s.n) }, "a") },
		func() error {
			return r.each(famToolEnds, func(s sum) { of(s.a).end(RequestEnd(s.b), int(s.n)) }, "a", "b")
		},
		func() error { return r.each(famRan, func(s sum) { s.addTo(&of(s.a).Duration) }, "a", "bucket") },
		func() error { return r.marks(of) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	sorted := make([]ToolStat, 0, len(stats))
	for _, s := range stats {
		sorted = append(sorted, *s)
	}
	slices.SortFunc(sorted, func(a, b ToolStat) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool)) })
	return sorted, nil
}

func (s *ToolStat) end(end RequestEnd, n int) {
	switch end {
	case EndApproved, EndModified:
		s.Approved += n
	case EndDeclined:
		s.Declined += n
	case EndExpired, EndCancelled, EndStale, EndFailed: // nobody's word on it
	}
}

// marks reads what is kept of tools whatever the span.
func (r reading) marks(of func(string) *ToolStat) error {
	_, err := list(r.ctx, r.tx, func(scan func(...any) error) (struct{}, error) {
		var tool, definition string
		var called, changed int64
		if err := scan(&tool, &called, &changed, &definition); err != nil {
			return struct{}{}, err
		}
		s := of(tool)
		s.LastCalled, s.Changed, s.Definition = timeAt(called), timeAt(changed), events.Digest(definition)
		return struct{}{}, nil
	}, "SELECT tool, called, changed, definition FROM tool_marks")
	return err
}

// timeAt is the instant of a log time; zero for none.
func timeAt(logTime int64) time.Time {
	if logTime == 0 {
		return time.Time{}
	}
	return time.UnixMicro(logTime).UTC()
}

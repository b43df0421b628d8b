package projections

import (
	"context"
	"maps"
	"sync"
)

// sums are the totals of the whole log as scrapers see them: what is committed,
// a whole batch at a time. A scrape never waits for the file.
type sums struct {
	mu      sync.Mutex
	tallies map[tallyKey]tally // mu; of step 0
	gauges  gauges             // mu
}

// gauges are what is shown of the requests that wait.
type gauges struct {
	waiting            bool  // whether any request waits
	oldest, nextExpiry int64 // log times; of requests that wait
}

func loadSums(ctx context.Context, q querier) (*sums, error) {
	type row struct {
		key   tallyKey
		tally tally
	}
	rows, err := list(ctx, q, func(scan func(...any) error) (r row, err error) {
		return r, scan(&r.key.family, &r.key.a, &r.key.b, &r.key.c, &r.key.bucket, &r.tally.n, &r.tally.sum)
	}, "SELECT family, a, b, c, bucket, n, sum FROM tallies WHERE step = 0")
	if err != nil {
		return nil, err
	}
	s := &sums{tallies: make(map[tallyKey]tally, len(rows))}
	for _, r := range rows {
		s.tallies[r.key] = r.tally
	}
	return s, loadGauges(ctx, q, &s.gauges)
}

func loadGauges(ctx context.Context, q querier, g *gauges) error {
	return q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM waits),
		coalesce((SELECT min(asked) FROM waits), 0), coalesce((SELECT min(deadline) FROM waits), 0)`).
		Scan(&g.waiting, &g.oldest, &g.nextExpiry)
}

// apply shows what a batch added, after its commit.
func (s *sums) apply(d *delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, t := range d.tallies {
		if k.step == 0 {
			was := s.tallies[k]
			s.tallies[k] = tally{n: was.n + t.n, sum: was.sum + t.sum}
		}
	}
	s.gauges = d.gauges
}

// snapshot returns all of it as it was at one position.
func (s *sums) snapshot() (map[tallyKey]tally, gauges) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.tallies), s.gauges
}

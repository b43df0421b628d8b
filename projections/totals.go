package projections

import (
	"context"

	"github.com/countersign-dev/countersign/fold"
)

// totalsOf bounds how many calls of a session are counted for a page.
const totalsOf = 20_000

// Totals is what came of a session's calls: of its first 20,000.
type Totals struct {
	Calls    map[CallState]int
	Approved int // calls that people approved
}

// Totals counts what came of a session's calls.
func (v *Views) Totals(ctx context.Context, session string) (Totals, error) {
	t := Totals{Calls: map[CallState]int{}}
	calls, err := v.counted(ctx, "SELECT state, count(*) FROM (SELECT state FROM calls WHERE session = ? LIMIT ?) GROUP BY state", session)
	if err != nil {
		return t, err
	}
	requests, err := v.counted(ctx, "SELECT state, count(*) FROM (SELECT state FROM requests WHERE session = ? LIMIT ?) GROUP BY state", session)
	for _, c := range calls {
		t.Calls[CallState(c.state)] = c.n
	}
	for _, c := range requests {
		if c.state == string(fold.Approved) {
			t.Approved = c.n
		}
	}
	return t, err
}

// stateCount is how many rows are in a state.
type stateCount struct {
	state string
	n     int
}

func (v *Views) counted(ctx context.Context, query, session string) ([]stateCount, error) {
	return list(ctx, v.db, func(scan func(...any) error) (c stateCount, err error) { return c, scan(&c.state, &c.n) },
		query, session, totalsOf)
}

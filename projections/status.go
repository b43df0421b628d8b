package projections

import (
	"context"
	"database/sql"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Status is where the views stand.
type Status struct {
	Position events.Position // of the last record read; zero before the first
	Records  uint64          // read, of all partitions
	Pending  int             // undecided requests
	Aside    int             // records set aside
	Heads    []events.Head   // over the records read, by partition
	CaughtUp bool            // the log held nothing more when last asked
}

// Lag is how old the last record read is while there are more; 0 when the
// views have caught up.
func (s Status) Lag(now time.Time) time.Duration {
	if s.CaughtUp || s.Position == (events.Position{}) {
		return 0
	}
	return max(0, now.Sub(time.UnixMicro(s.Position.LogTime)))
}

// Status returns where the views stand, without touching the file.
func (v *Views) Status() Status {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.status
}

// Changed returns the status, and a channel that is closed when it moves.
func (v *Views) Changed() (Status, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.status, v.changed
}

func (v *Views) publish(s Status) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.status = s
	close(v.changed)
	v.changed = make(chan struct{})
}

// caughtUp notes that the log held nothing more; that alone wakes nobody.
func (v *Views) caughtUp() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.status.CaughtUp = true
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// measure counts what the status tells of the rows.
func (a *audit) measure(ctx context.Context, q querier) (Status, error) {
	s := Status{Position: a.position, Records: a.heads.records(), Heads: a.heads.list()}
	err := q.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM requests WHERE state = 'pending'),
		(SELECT count(*) FROM aside)`).Scan(&s.Pending, &s.Aside)
	return s, err
}

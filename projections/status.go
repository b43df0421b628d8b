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
	Head     uint64          // records of the log
	Pending  int             // undecided requests
	Aside    int             // records set aside
	Heads    []events.Head   // over the records read, by partition
	CaughtUp bool            // the log held nothing more when last asked
	// Rebuilding says how far views are that are being built; nil where none are.
	// Until they are done the old ones answer, or none where there are none.
	Rebuilding *Rebuilding
	Fault      string // why the views stand still, for people; "" where they do not
	// Lost is how often the views were given up since the start, because their
	// file was damaged or gone: what was read while it was another number may lack
	// what the log has.
	Lost int

	oldest int64 // log time of the log's first record; 0 where nobody can say
}

// Rebuilding is how far a rebuild has come.
type Rebuilding struct {
	Done, Total uint64 // records
	Indexing    bool   // all are read; the indexes are being made
}

// Lag is how old the last record read is while there are more, or the log's
// first one where none is read; 0 when the views have caught up.
func (s Status) Lag(now time.Time) time.Duration {
	read := s.Position.LogTime
	if s.Position == (events.Position{}) {
		read = s.oldest
	}
	if s.CaughtUp || read == 0 {
		return 0
	}
	return max(0, now.Sub(time.UnixMicro(read)))
}

// following is how old the last record read may be while the views do what they
// always do.
const following = 10 * time.Second

// Behind reports whether the log may hold what the views do not know, by more
// than the moment in which they follow it: they are being built, catch up, or
// stand still. What they count is then not what the log says, and what they do
// not find may be there.
func (s Status) Behind(now time.Time) bool {
	return !s.CaughtUp && s.Head > s.Records && (s.Records == 0 || s.Lag(now) > following)
}

// Status returns where the views stand, without touching the file.
func (v *Views) Status() Status {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now()
}

// now is the status of the moment; v.mu is held.
func (v *Views) now() Status {
	s := v.status
	s.Head = v.opt.Source.Head()
	if s.Head > s.Records && (v.must != nil || s.Fault != "") {
		s.CaughtUp = false // nobody reads on, and so nobody has asked
	}
	return s
}

// Changed returns the status, and a channel that is closed when it moves.
func (v *Views) Changed() (Status, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now(), v.changed
}

// publish tells where the views stand now.
func (v *Views) publish(s Status) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s.Rebuilding, s.Lost, s.oldest = v.status.Rebuilding, v.status.Lost, v.status.oldest
	v.status = s
	v.wake()
}

// wake tells who waits for a change; v.mu is held.
func (v *Views) wake() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// caughtUp notes that the log held nothing more; that alone wakes nobody.
func (v *Views) caughtUp() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.status.CaughtUp, v.status.Fault = true, ""
}

// rebuilding notes how far a rebuild is; that alone wakes nobody but at its
// begin and end.
func (v *Views) rebuilding(r *Rebuilding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.status.Rebuilding
	v.status.Rebuilding = r
	if (before == nil) != (r == nil) {
		v.wake()
	}
}

// fault notes why the views stand still.
func (v *Views) fault(ctx context.Context, err error) {
	v.logger.ErrorContext(ctx, "the views stand still and are tried again", "error", err.Error())
	v.mu.Lock()
	defer v.mu.Unlock()
	v.status.Fault = err.Error()
	v.wake()
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

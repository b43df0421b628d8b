package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// batchSize is how many records go into one transaction while the views follow
// the log.
const batchSize = 512

// follower makes one file of views follow the log. One goroutine at a time has
// it.
type follower struct {
	source Source
	db     *sqlite.DB
	audit  *audit
	spare  chan []byte // rooms of segments, while there is much to do
}

// newFollower goes on where a file stands. errOther: it is another's.
func newFollower(ctx context.Context, db *sqlite.DB, source Source) (*follower, error) {
	f := &follower{source: source, db: db, spare: make(chan []byte, 2)}
	return f, f.restore(ctx)
}

func (f *follower) restore(ctx context.Context) error {
	a, err := restore(ctx, f.db, f.source)
	if err == nil {
		f.audit = a
	}
	return err
}

// step applies the next batch; false where the log held none.
func (f *follower) step(ctx context.Context) (more bool, err error) {
	entries, err := f.source.Read(ctx, f.audit.row, batchSize)
	if err != nil {
		return false, fmt.Errorf("%w after row %d: %w", errSource, f.audit.row, err)
	}
	if len(entries) == 0 {
		return false, nil
	}
	carried, n, err := carriedBy(ctx, f.source, entries)
	if err != nil {
		return false, err
	}
	return true, f.apply(ctx, entries[:n], carried)
}

// apply commits entries with the position behind them. After a failure what the
// projection holds in memory is read back from what was committed; where a
// record is to blame, it is found by halves, so that it alone is set aside.
func (f *follower) apply(ctx context.Context, entries []events.Entry, carried payloads) error {
	c, err := f.audit.fold(ctx, entries, carried)
	if err == nil {
		err = f.commit(ctx, c)
	}
	if err == nil {
		return nil
	}
	if restoreErr := f.restore(ctx); restoreErr != nil {
		return errors.Join(err, restoreErr)
	}
	if !poison(err) {
		return err
	}
	if len(entries) == 1 {
		return f.setAside(ctx, entries[0], err)
	}
	half := len(entries) / 2
	if err := f.apply(ctx, entries[:half], carried); err != nil {
		return err
	}
	return f.apply(ctx, entries[half:], carried)
}

func (f *follower) setAside(ctx context.Context, e events.Entry, why error) error {
	c, err := f.audit.skip(ctx, e, why)
	if err != nil {
		return err
	}
	return f.commit(ctx, c)
}

// commit writes changes in one transaction. It is short: it is not worth a
// goroutine for each statement that waits for ctx to end.
func (f *follower) commit(ctx context.Context, c *changes) error {
	ctx = context.WithoutCancel(ctx)
	var texts indexer
	c.gram(&texts)
	c.segments = texts.seal(func() []byte { return nil })
	err := f.db.Raw(ctx, func(conn *sqlite.Conn) error {
		return inTransaction(conn, func() error {
			if err := c.write(conn); err != nil {
				return err
			}
			return mergeAll(conn)
		})
	})
	if err == nil {
		f.audit.sums.apply(c.delta)
	}
	return err
}

// status says where the file stands.
func (f *follower) status(ctx context.Context) (Status, error) {
	s := f.audit.status()
	err := f.db.Read.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM requests WHERE state = 'pending'),
		(SELECT count(*) FROM aside)`).Scan(&s.Pending, &s.Aside)
	return s, err
}

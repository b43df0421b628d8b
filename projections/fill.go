package projections

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

const (
	// fillSize is how many records are folded at once while there is much to do.
	fillSize = 2048
	// fillCommit is how many records go into one transaction then, at least: it
	// ends where a segment of the search index does.
	fillCommit = 256 << 10
)

// fill applies the log up to its end. One goroutine reads and folds, one works
// out grams, one writes. done is told how many records are written.
func (f *follower) fill(ctx context.Context, done func(records uint64)) error {
	for {
		f.audit.sessions.keep = keepFilling
		upTo, err := f.pipe(ctx, done)
		if err == nil {
			return nil
		}
		if restoreErr := f.restore(ctx); restoreErr != nil {
			return restoreErr
		}
		if !poison(err) || upTo <= f.audit.row {
			return err
		}
		for more := true; more && f.audit.row < upTo; { // slowly past what is poison
			if more, err = f.step(ctx); err != nil {
				return err
			}
		}
	}
}

// pipe is fill until something fails; upTo is the last row of what could not be
// written.
func (f *follower) pipe(ctx context.Context, done func(uint64)) (upTo int64, err error) {
	group, ctx := errgroup.WithContext(ctx)
	folded, ready := make(chan *changes), make(chan *changes)
	group.Go(func() error {
		defer close(folded)
		return f.foldAll(ctx, folded)
	})
	group.Go(func() error {
		defer close(ready)
		return f.gramAll(ctx, folded, ready)
	})
	group.Go(func() error {
		return f.db.Raw(ctx, func(conn *sqlite.Conn) (err error) {
			upTo, err = f.writeAll(ctx, conn, ready, done)
			return err
		})
	})
	err = group.Wait()
	return upTo, err
}

func (f *follower) foldAll(ctx context.Context, folded chan<- *changes) error {
	for {
		entries, err := f.source.Read(ctx, f.audit.row, fillSize)
		if err != nil {
			return fmt.Errorf("%w after row %d: %w", errSource, f.audit.row, err)
		}
		if len(entries) == 0 {
			return nil
		}
		carried, n, err := carriedBy(ctx, f.source, entries)
		if err != nil {
			return err
		}
		c, err := f.audit.fold(ctx, entries[:n], carried)
		if err != nil {
			return err
		}
		if err := pass(ctx, folded, c); err != nil {
			return err
		}
	}
}

func (f *follower) gramAll(ctx context.Context, folded <-chan *changes, ready chan<- *changes) error {
	var texts indexer
	var last *changes
	for c := range folded {
		if last != nil {
			if err := pass(ctx, ready, last); err != nil {
				return err
			}
		}
		c.gram(&texts)
		if last = c; texts.full() {
			c.segments = texts.seal(f.room)
		}
	}
	if last == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	last.segments = append(last.segments, texts.seal(f.room)...)
	return pass(ctx, ready, last)
}

// room returns the room of a segment that is written, if there is one.
func (f *follower) room() []byte {
	select {
	case r := <-f.spare:
		return r
	default:
		return nil
	}
}

func pass(ctx context.Context, to chan<- *changes, c *changes) error {
	select {
	case to <- c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeAll writes what comes, many batches in one transaction.
func (f *follower) writeAll(ctx context.Context, conn *sqlite.Conn, ready <-chan *changes, done func(uint64)) (upTo int64, err error) {
	for first := range ready {
		err := inTransaction(conn, func() error {
			begun := first.status.Records
			for c := first; c != nil; c = <-ready {
				upTo = c.row
				if err := f.writeOne(ctx, conn, c); err != nil {
					return err
				}
				done(c.status.Records)
				if len(c.segments) > 0 && c.status.Records-begun >= fillCommit {
					return nil
				}
			}
			return ctx.Err() // or what was cut off would be committed without its texts
		})
		if err != nil {
			return upTo, err
		}
	}
	return upTo, nil
}

func (f *follower) writeOne(ctx context.Context, conn *sqlite.Conn, c *changes) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.write(conn); err != nil {
		return err
	}
	f.audit.sums.apply(c.delta)
	for _, s := range c.segments {
		select {
		case f.spare <- s.bytes:
		default:
		}
	}
	return nil
}

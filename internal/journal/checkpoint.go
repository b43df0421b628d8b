package journal

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

const (
	walBytes    = 64 << 20 // length of the write-ahead log at which it is to begin anew
	pageBytes   = 4096
	commitPages = 5 // pages that a commit touches whatever it holds

	// readerWait is how long the writer waits for readers to leave a log that is
	// twice as long as it should be.
	readerWait = 20 * time.Millisecond
)

// checkpointer keeps the write-ahead log short, off the commit path. It has a
// connection of its own and copies pages while the writer goes on; so it never
// quite catches up. When the log is long, the writer copies the few pages that
// are left between two commits, and the next commit begins the log anew, unless
// a reader is in it at that moment. When that happened too often, the writer
// waits for the readers, a little: a reader that stays longer makes the log
// grow, and costs the writer this wait for each checkpoint.
type checkpointer struct {
	db   *sqlite.DB
	log  *slog.Logger
	most int64         // bytes: a log beyond it is long; checkpoints come every eighth of it
	poke chan struct{} // capacity 1
	long atomic.Int64  // bytes of a log that the writer should finish; 0: none

	written int64 // estimated, since the last poke; of the writer's goroutine
}

func newCheckpointer(ctx context.Context, o Options) (*checkpointer, error) {
	db, err := sqlite.Open(ctx, o.Path, sqlite.Options{Synchronous: sqlite.Full, CheckpointPages: -1, CacheKiB: 256})
	if err != nil {
		return nil, err
	}
	return &checkpointer{db: db, log: o.Logger, most: o.walBytes, poke: make(chan struct{}, 1)}, nil
}

// wrote counts a commit.
func (c *checkpointer) wrote(batch []*request) {
	c.written += commitPages * pageBytes
	for _, r := range batch {
		c.written += r.weight
	}
	if c.written < c.most/8 {
		return
	}
	c.written = 0
	select {
	case c.poke <- struct{}{}:
	default: // one is due already
	}
}

func (c *checkpointer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.poke:
		}
		pages, _, err := sqlite.Checkpoint(context.WithoutCancel(ctx), c.db.Write) // it is short, and nothing is half done
		if err != nil {
			c.log.WarnContext(ctx, "the write-ahead log could not be copied; it grows", slog.Any("error", err))
		}
		if pages*pageBytes > c.most {
			c.long.Store(pages * pageBytes)
		}
	}
}

// finish copies what is left of a long log; the writer calls it between two
// commits.
func (c *checkpointer) finish(db *sqlite.DB) error {
	ctx, long := context.Background(), c.long.Swap(0)
	var err error
	switch {
	case long > 2*c.most:
		_, err = sqlite.Restart(ctx, db.Write, readerWait)
	case long > 0:
		_, _, err = sqlite.Checkpoint(ctx, db.Write)
	}
	return err
}

package journal

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

const (
	walBytes    = 64 << 20 // length of the write-ahead log at which it is to begin anew
	pageBytes   = 4096
	commitPages = 5 // pages that a commit touches whatever it holds
)

// checkpointer keeps the write-ahead log short, off the commit path. It has a
// connection of its own and copies pages while the writer goes on; so it never
// quite catches up. When the log is long, the writer copies the few pages that
// are left between two commits, and the next commit begins the log anew.
type checkpointer struct {
	db   *sqlite.DB
	log  *slog.Logger
	most int64         // bytes: a log beyond it is long; checkpoints come every eighth of it
	poke chan struct{} // capacity 1
	long atomic.Bool   // the log is long and nearly copied: the writer should finish it

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
			c.long.Store(true)
		}
	}
}

// finish copies what is left of a long log; the writer calls it between two
// commits.
func (c *checkpointer) finish(db *sqlite.DB) error {
	if !c.long.Swap(false) {
		return nil
	}
	_, _, err := sqlite.Checkpoint(context.Background(), db.Write)
	return err
}

package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// The bounds of one commit: enough to share the wait for the disk among all,
// small enough that the first need not wait long for the last.
const (
	commitEntries = 1000
	commitWeight  = 4 << 20
)

// manyAnswers is how many appends are answered beside the next commit and not
// before it: waking hundreds of callers takes as long as writing a part of what
// they wrote.
const manyAnswers = 32

// The wait between two attempts to write what ends work, when there is no room.
const (
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Second
)

// Run writes what is appended until ctx ends; then it lets nothing in any
// more, writes what is queued, and returns nil. What there is no room for then
// gets ErrStopped: nothing waits any more. It returns an error when the
// database fails in a way after which writing would be guessing, above all
// when the disk refuses to sync; everything that waits gets ErrStopped then.
// It may be called once.
func (j *Journal) Run(ctx context.Context) error {
	if j.writer == nil {
		return ErrReadOnly
	}
	stop := j.checkpointInBackground()
	defer stop()
	defer j.answers.Wait()
	for {
		if ctx.Err() != nil {
			j.queue.close(ErrStopped) // what is queued by now is still written
		}
		batch := j.queue.take(commitEntries, commitWeight)
		if len(batch) > 0 {
			j.finishCheckpoint(ctx)
			if err := j.commit(ctx, batch); err != nil {
				return j.fail(err)
			}
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-j.queue.wake:
		case <-ctx.Done():
		}
	}
}

// commit writes a batch. When there is no room it answers what begins work,
// and tries what ends work again until it is written or its caller gave up.
func (j *Journal) commit(ctx context.Context, batch []*request) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		if batch = j.withdrawn(batch); len(batch) == 0 {
			return nil
		}
		err := j.writer.write(batch)
		if err == nil {
			j.refused.Store(nil)
			j.publish(batch)
			return nil
		}
		refusal := refusalFor(err)
		if refusal == nil {
			j.queue.answer(stopped(err), batch...)
			return err
		}
		j.refused.Store(&refused{refusal, time.Now()})
		j.log.WarnContext(ctx, "the journal cannot be written now", slog.Any("error", err), slog.Int("appends", len(batch)))
		batch = j.postpone(ctx, refusal, batch, wait)
	}
}

// postpone answers what cannot wait for room, and returns the rest: at once
// where some room was in reserve, else after a while. When the journal is
// stopping, nothing can wait.
func (j *Journal) postpone(ctx context.Context, refusal error, batch []*request, wait time.Duration) []*request {
	full := errors.Is(refusal, ErrDiskFull)
	if full {
		j.disk.full()
	}
	batch = j.refuseBegins(refusal, batch)
	switch {
	case full && len(batch) > 0 && j.disk.giveWay():
	case ctx.Err() != nil:
		j.queue.answer(stopped(refusal), batch...)
		return nil
	default:
		pause(ctx, wait)
	}
	return batch
}

// withdrawn drops the requests whose callers do not wait any more.
func (j *Journal) withdrawn(batch []*request) []*request {
	return slices.DeleteFunc(batch, func(r *request) bool {
		if r.ctx.Err() == nil {
			return false
		}
		j.queue.answer(context.Cause(r.ctx), r)
		return true
	})
}

// refuseBegins answers what begins work, in the batch and in the queue.
func (j *Journal) refuseBegins(refusal error, batch []*request) []*request {
	j.queue.answer(refusal, j.queue.takeBegins()...)
	return slices.DeleteFunc(batch, func(r *request) bool {
		if r.class == Begins {
			j.queue.answer(refusal, r)
		}
		return r.class == Begins
	})
}

// refusalFor returns what to tell who asked, when a transaction failed and may
// succeed later; nil when it may not.
func refusalFor(err error) error {
	switch {
	case sqlite.IsFsync(err):
		return nil
	case sqlite.IsFull(err):
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	case sqlite.IsBusy(err): // another program writes to the file
		return fmt.Errorf("%w: %w", ErrOverloaded, err)
	}
	return nil
}

func stopped(cause error) error { return fmt.Errorf("%w: %w", ErrStopped, cause) }

// publish makes a commit known: first the head, then the waiting readers, then
// those who appended. Whoever is answered can read what it appended.
func (j *Journal) publish(batch []*request) {
	j.recent.add(batch)
	j.tree.Store(j.writer.tree)
	j.bell.ring()
	for _, r := range batch {
		if r.err != nil {
			j.log.ErrorContext(r.ctx, "an append was refused: somebody reuses an id, or changed an event", slog.Any("error", r.err))
		}
	}
	if j.checkpointer != nil {
		j.checkpointer.wrote(batch)
	}
	if len(batch) < manyAnswers {
		j.queue.answer(nil, batch...)
		return
	}
	j.answers.Go(func() { j.queue.answer(nil, batch...) })
}

// fail ends the journal for good.
func (j *Journal) fail(err error) error {
	cause := stopped(err)
	j.queue.close(cause)
	for batch := j.queue.take(commitEntries, commitWeight); len(batch) > 0; batch = j.queue.take(commitEntries, commitWeight) {
		j.queue.answer(cause, batch...)
	}
	return fmt.Errorf("write the journal %s: %w", j.o.Path, err)
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// finishCheckpoint lets a long write-ahead log begin anew.
func (j *Journal) finishCheckpoint(ctx context.Context) {
	if j.checkpointer == nil {
		return
	}
	if err := j.checkpointer.finish(j.db); err != nil {
		j.log.WarnContext(ctx, "the write-ahead log could not be copied; it grows", slog.Any("error", err))
	}
}

// checkpointInBackground starts the checkpointer and returns what stops it and
// waits for it.
func (j *Journal) checkpointInBackground() (stop func()) {
	if j.checkpointer == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { j.checkpointer.run(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

package journal

import (
	"context"
	"sync/atomic"
	"time"
)

// followEvery is how often a journal that is open for reading only looks for
// what another process appended.
const followEvery = 200 * time.Millisecond

// bell wakes all that wait, at the price of one channel a ring.
type bell struct{ next atomic.Pointer[chan struct{}] }

func newBell() *chan struct{} {
	c := make(chan struct{})
	return &c
}

// heard returns a channel that is closed at the next ring.
func (b *bell) heard() <-chan struct{} { return *b.next.Load() }

func (b *bell) ring() { close(*b.next.Swap(newBell())) }

// Wait returns the last row as soon as it is beyond afterRow, or the error of
// ctx. It tells that there is more, not what: read it with Read. A waiter
// costs nothing but its goroutine.
func (j *Journal) Wait(ctx context.Context, afterRow int64) (headRow int64, err error) {
	for {
		heard := j.bell.heard() // before the look: a commit after it rings
		if row := j.tree.Load().row; row > afterRow {
			return row, nil
		}
		if j.o.ReadOnly {
			if err := j.follow(ctx, afterRow); err != nil {
				return 0, err
			}
			continue
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// follow looks once at what another process appended, after a pause if there
// is nothing new.
func (j *Journal) follow(ctx context.Context, afterRow int64) error {
	t, err := j.loadTree(ctx)
	if err != nil {
		return err
	}
	j.tree.Store(t)
	if t.row <= afterRow {
		pause(ctx, followEvery)
	}
	return ctx.Err()
}

package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
)

// queue holds what waits for the writer, in the order in which it will stand
// in the log. It is bounded by weight: an entry weighs its bytes, and at least
// entryWeight. What begins work may fill a share of it; the rest is kept for
// what ends work. The weight is given back when a request is answered, so that
// the bound covers the commit under way as well.
type queue struct {
	limit, share int64
	all, begins  *semaphore.Weighted
	wake         chan struct{} // capacity 1: there is something

	mu      sync.Mutex
	waiting []*request // guarded by mu
	closed  error      // guarded by mu; set: nothing comes in any more
}

func newQueue(limit int64) *queue {
	share := limit / 4 * 3
	return &queue{
		limit: limit, share: share,
		all: semaphore.NewWeighted(limit), begins: semaphore.NewWeighted(share),
		wake: make(chan struct{}, 1),
	}
}

// put admits a request and queues it. One that begins work gets ErrOverloaded
// at once when its share is full, or when something that ends work is waiting
// for room; one that ends work waits until its ctx ends.
func (q *queue) put(r *request) error {
	if err := q.admit(r); err != nil {
		return err
	}
	return q.enqueue(r)
}

// enqueue queues a request that was admitted.
func (q *queue) enqueue(r *request) error {
	if err := q.push(r); err != nil {
		q.release(r)
		return err
	}
	select {
	case q.wake <- struct{}{}:
	default: // the writer has been told
	}
	return nil
}

func (q *queue) admit(r *request) error {
	if r.weight > q.share {
		return fmt.Errorf("%w: %d entries weigh %d bytes in the queue, at most %d go in one append",
			ErrTooLarge, len(r.entries), r.weight, q.share)
	}
	if r.class == Ends {
		if err := q.all.Acquire(r.ctx, r.weight); err != nil {
			return fmt.Errorf("append: no room in the queue: %w", context.Cause(r.ctx))
		}
		return nil
	}
	return q.tryAdmit(r)
}

// tryAdmit is admit that never waits: ErrOverloaded if there is no room now.
func (q *queue) tryAdmit(r *request) error {
	if r.class == Begins && !q.begins.TryAcquire(r.weight) {
		return ErrOverloaded
	}
	if q.all.TryAcquire(r.weight) {
		return nil
	}
	if r.class == Begins {
		q.begins.Release(r.weight)
	}
	return ErrOverloaded
}

func (q *queue) push(r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed != nil {
		return q.closed
	}
	q.waiting = append(q.waiting, r)
	return nil
}

// take removes the first requests, as many as go in one commit: one at least,
// then as many as stay within both bounds.
func (q *queue) take(maxEntries int, maxWeight int64) []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for ; n < len(q.waiting); n++ {
		maxEntries -= len(q.waiting[n].entries)
		maxWeight -= q.waiting[n].weight
		if n > 0 && (maxEntries < 0 || maxWeight < 0) {
			break
		}
	}
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}

// takeBegins removes all that begins work.
func (q *queue) takeBegins() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	var begins []*request
	q.waiting = slices.DeleteFunc(q.waiting, func(r *request) bool {
		if r.class == Begins {
			begins = append(begins, r)
		}
		return r.class == Begins
	})
	return begins
}

// close lets nothing in any more; put returns err from now on.
func (q *queue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = err
}

// answer gives requests their weight back and then their result: whoever has it
// finds the room again.
func (q *queue) answer(err error, batch ...*request) {
	q.release(batch...)
	for _, r := range batch {
		r.answer(err)
	}
}

func (q *queue) release(batch ...*request) {
	var all, begins int64
	for _, r := range batch {
		all += r.weight
		if r.class == Begins {
			begins += r.weight
		}
	}
	q.begins.Release(begins)
	q.all.Release(all)
}

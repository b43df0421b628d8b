package journal

import (
	"fmt"
	"time"
)

// refused is why the transaction that was tried last could not be written.
type refused struct {
	err error
	at  time.Time
}

// refusedFor is how long that is believed: longer than the time between two
// attempts, with the wait for a lock. Where nothing is tried any more, nobody
// knows better.
const refusedFor = 10 * time.Second

// Takes returns nil where the journal takes what begins work, as far as it can
// say without writing: else ErrStopped, ErrReadOnly, ErrDiskFull, or
// ErrOverloaded where another program has locked the file.
func (j *Journal) Takes() error {
	if j.writer == nil {
		return ErrReadOnly
	}
	if err := j.queue.refuses(); err != nil {
		return err
	}
	if r := j.refused.Load(); r != nil && time.Since(r.at) < refusedFor {
		return fmt.Errorf("what waits cannot be written: %w", r.err)
	}
	return j.disk.admit()
}

// refuses is why nothing comes into the queue any more.
func (q *queue) refuses() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

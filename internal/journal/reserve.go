package journal

import (
	"context"
	"fmt"
)

// Slot is room in the queue for one append whose bytes do not exist yet. It is
// Append in two halves, for who must number events in the order of the log:
// reserve, and be refused before a number is used; then number, encode and Put
// under a lock of its own; then Wait outside of it. It belongs to one goroutine.
type Slot struct {
	j *Journal
	r *request
}

// Reserve admits an append of a number of entries that have at most the given
// bytes together, payloads included. Like Append it refuses what begins work
// at once, and waits for room, until ctx ends, for what ends work. ctx is also
// that of Wait. Every slot needs a Put or a Release.
//
// Errors: ErrTooLarge, ErrOverloaded, ErrDiskFull, ErrReadOnly. That the
// journal has stopped is found by Put.
func (j *Journal) Reserve(ctx context.Context, class Class, entries int, bytes int64) (*Slot, error) {
	return j.reserve(ctx, class, entries, bytes, j.queue.admit)
}

// TryReserve is Reserve that never waits: where that would, it is
// ErrOverloaded.
func (j *Journal) TryReserve(ctx context.Context, class Class, entries int, bytes int64) (*Slot, error) {
	return j.reserve(ctx, class, entries, bytes, j.queue.tryAdmit)
}

func (j *Journal) reserve(ctx context.Context, class Class, entries int, bytes int64, admit func(*request) error) (*Slot, error) {
	if j.writer == nil {
		return nil, ErrReadOnly
	}
	r, err := newRequest(ctx, class, nil)
	if err != nil {
		return nil, err
	}
	r.weight = bytes + int64(entries)*entryWeight // no less than newRequest finds
	if r.weight > j.queue.share {
		return nil, fmt.Errorf("%w: an append of %d entries with up to %d bytes, at most %d go in one; append fewer at once",
			ErrTooLarge, entries, bytes, j.queue.share)
	}
	if class == Begins {
		err = j.disk.admit()
	}
	if err == nil {
		err = admit(r)
	}
	if err != nil {
		if class == Begins { // what ends work asks again, and waits
			_, err = j.metrics.answered(r, nil, err)
		}
		return nil, err
	}
	return &Slot{j: j, r: r}, nil
}

// Put queues the entries: they will stand in the log after those of every Put
// that returned before. It does not block. What was reserved beyond them is
// given back; after an error, all of it.
func (s *Slot) Put(entries ...Entry) error {
	r, err := newRequest(s.r.ctx, s.r.class, entries)
	if err == nil && (len(entries) == 0 || r.weight > s.r.weight) {
		err = fmt.Errorf("%w: %d entries weigh %d bytes, %d were reserved", ErrTooLarge, len(entries), r.weight, s.r.weight)
	}
	if err != nil {
		s.Release()
		return err
	}
	r.began = s.r.began
	s.r.weight -= r.weight
	s.Release()
	s.r = r
	return s.j.queue.enqueue(r)
}

// Wait returns what became of the entries that were Put, as Append does.
func (s *Slot) Wait() ([]Stored, error) {
	stored, err := s.r.wait()
	return s.j.metrics.answered(s.r, stored, err)
}

// Release gives the room back, in place of Put.
func (s *Slot) Release() { s.j.queue.release(s.r) }

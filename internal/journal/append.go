package journal

import (
	"context"
	"fmt"
)

// Append stores entries next to each other in one commit; it is durable when
// it returns. The results are in the order of the entries; their bytes are not
// to be changed. An entry that is there already is not stored again and comes
// back as Duplicate.
//
// Errors: ErrTooLarge, ErrConflict (nothing of this Append is stored),
// ErrOverloaded and ErrDiskFull (nothing is stored; what ends work gets
// neither while the writer runs), ErrStopped. When ctx ends first, its error
// comes back, and the entries may or may not be stored: append them again
// under the same ids to find out.
func (j *Journal) Append(ctx context.Context, class Class, entries ...Entry) ([]Stored, error) {
	if j.writer == nil {
		return nil, ErrReadOnly
	}
	r, err := newRequest(ctx, class, entries)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	if err := j.put(r); err != nil {
		return j.metrics.answered(r, nil, err)
	}
	stored, err := r.wait()
	return j.metrics.answered(r, stored, err)
}

// put queues a request, if there is room for it.
func (j *Journal) put(r *request) error {
	if r.class == Begins {
		if err := j.disk.admit(); err != nil {
			return err
		}
	}
	return j.queue.put(r)
}

// wait returns the result of a request that is queued, or the error of its
// ctx if that ends first.
func (r *request) wait() ([]Stored, error) {
	select {
	case <-r.done:
		return r.result()
	case <-r.ctx.Done():
	}
	select {
	case <-r.done:
		return r.result()
	default:
		return nil, fmt.Errorf("append %s %s: it may or may not be stored: %w", r.entries[0].Type, r.entries[0].ID, context.Cause(r.ctx))
	}
}

// result may be called once done is closed.
func (r *request) result() ([]Stored, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.stored, nil
}

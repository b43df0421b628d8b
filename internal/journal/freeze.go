package journal

import "fmt"

// Freeze lets nothing in any more, for a reason: an append gets ErrReadOnly with
// it. It is for a journal that must not grow, and is called in place of Run,
// before anything was appended. Reading goes on.
func (j *Journal) Freeze(why error) {
	if j.queue != nil {
		j.queue.close(fmt.Errorf("%w: %w", ErrReadOnly, why))
	}
}

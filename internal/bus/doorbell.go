package bus

import (
	"context"

	"github.com/countersign-dev/countersign/internal/journal"
)

// doorbell wakes subscriptions when there is more to read. It carries nothing:
// what there is, and in what order, the journal says.
type doorbell interface {
	// listen returns how one subscription waits, until ctx ends. Rings are
	// heard from now on, so read after listening.
	listen(ctx context.Context) (waitFunc, error)
}

// waitFunc returns nil when there may be more than a row, or the error of ctx.
// It may return too early, never too late.
type waitFunc func(ctx context.Context, after int64) error

// journalBell is the journal's own.
type journalBell struct{ journal *journal.Journal }

func (b journalBell) listen(context.Context) (waitFunc, error) {
	return func(ctx context.Context, after int64) error {
		_, err := b.journal.Wait(ctx, after)
		return err
	}, nil
}

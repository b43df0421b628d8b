package projections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

const (
	batchSize = 512 // records of one transaction
	// gather is how long the views let new records gather: showing what was
	// decided must not compete with doing it, and one transaction for ten
	// records costs little more than one for one.
	gather = 20 * time.Millisecond

	minPause = 100 * time.Millisecond
	maxPause = 5 * time.Second // between attempts while log or disk fail
)

// Run follows the log until ctx ends. A failing log or disk is tried again; a
// damaged file is made anew.
func (v *Views) Run(ctx context.Context) error {
	pause := minPause
	for ctx.Err() == nil {
		err := v.follow(ctx)
		if err == nil {
			pause = minPause
			continue
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to stop, and what came of that is no failure
		}
		v.logger.ErrorContext(ctx, "the views stand still", "error", err.Error(), "again_in", pause)
		if sqlite.IsCorrupt(err) || errors.Is(err, errOther) {
			if err := v.renew(ctx); err != nil {
				return fmt.Errorf("views: %w", err)
			}
		}
		wait(ctx, pause)
		pause = min(2*pause, maxPause)
	}
	return nil
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// renew replaces a damaged file. Queries of the moment fail.
func (v *Views) renew(ctx context.Context) error {
	_ = v.db.Load().Close() // it is damaged: nothing is left to lose
	if v.opt.Path != "" {
		if err := remove(v.opt.Path); err != nil {
			return err
		}
	}
	return v.try(ctx)
}

// follow applies one batch, or waits until there is one.
func (v *Views) follow(ctx context.Context) error {
	entries, err := v.opt.Source.Read(ctx, v.audit.row, batchSize)
	if err != nil {
		return fmt.Errorf("read the log after row %d: %w", v.audit.row, err)
	}
	if len(entries) == 0 {
		v.caughtUp()
		err := v.opt.Source.Wait(ctx, v.audit.row)
		wait(ctx, gather)
		return err
	}
	status, err := v.apply(ctx, entries)
	if err != nil {
		return err
	}
	status.CaughtUp = len(entries) < batchSize
	v.publish(status)
	return nil
}

// apply commits a batch and the position behind it. After a failure what the
// projection holds in memory is read back from what was committed.
func (v *Views) apply(ctx context.Context, entries []events.Entry) (Status, error) {
	status, err := v.transact(ctx, entries, false)
	if err == nil {
		return status, nil
	}
	// One record may be poison. Once more, each in a savepoint of its own, so
	// that it alone is set aside.
	if err := v.reset(ctx); err != nil {
		return Status{}, err
	}
	if !poison(err) {
		return Status{}, err
	}
	status, err = v.transact(ctx, entries, true)
	if err != nil {
		return Status{}, errors.Join(err, v.reset(ctx))
	}
	return status, nil
}

func (v *Views) reset(ctx context.Context) error {
	a, err := restore(ctx, v.db.Load(), v.opt.Source)
	if err != nil {
		return err
	}
	v.audit = a
	return nil
}

func (v *Views) transact(ctx context.Context, entries []events.Entry, careful bool) (Status, error) {
	// A batch is short: it is not worth a goroutine for each statement that
	// waits for ctx to end. Reading the log still ends with ctx.
	tx, err := v.db.Load().Write.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return Status{}, err
	}
	defer tx.Rollback()
	b := &batch{audit: v.audit, tx: newWriter(tx), careful: careful}
	for _, e := range entries {
		if e.Row <= v.audit.row {
			continue // a replay
		}
		if err := b.record(ctx, e); err != nil {
			return Status{}, fmt.Errorf("record %s: %w", e.Record.Position(), err)
		}
	}
	if err := b.finish(ctx); err != nil {
		return Status{}, err
	}
	status, err := v.audit.measure(ctx, tx)
	if err != nil {
		return Status{}, err
	}
	return status, tx.Commit()
}

package projections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

const (
	// gather is how long the views let new records gather: showing what was
	// decided must not compete with doing it, and one transaction for ten
	// records costs little more than one for one.
	gather = 20 * time.Millisecond

	minPause = 100 * time.Millisecond
	maxPause = 5 * time.Second // between attempts while log or disk fail
)

// Run follows the log until ctx ends. A failing log or disk is tried again;
// views that are missing, damaged or far behind are rebuilt.
func (v *Views) Run(ctx context.Context) error {
	pause := minPause
	for ctx.Err() == nil {
		err := v.act(ctx)
		if err == nil {
			pause = minPause
			continue
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it was told to stop, and what came of that is no failure
		}
		if sqlite.IsCorrupt(err) || errors.Is(err, errOther) {
			v.rebuildFor(err)
		}
		v.fault(ctx, err)
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

// act does what is to be done next: rebuild, open, or follow.
func (v *Views) act(ctx context.Context) error {
	if why := v.mustRebuild(); why != nil {
		return v.rebuild(ctx, why)
	}
	v.work.Lock()
	f := v.follower
	if f == nil {
		err := v.reopen(ctx)
		v.work.Unlock()
		return err
	}
	more, err := v.step(ctx, f)
	v.work.Unlock()
	if err != nil || more {
		return err
	}
	return v.await(ctx, f.audit.row)
}

// reopen tries again to open a file that could not be opened; v.work is held.
func (v *Views) reopen(ctx context.Context) error {
	err := v.try(ctx)
	if err != nil && (disposable(err) || errors.Is(err, errMissing)) {
		v.rebuildFor(err)
		return nil
	}
	return err
}

// step applies one batch; v.work is held.
func (v *Views) step(ctx context.Context, f *follower) (more bool, err error) {
	more, err = f.step(ctx)
	if err != nil {
		return false, err
	}
	if !more {
		v.caughtUp()
		v.export()
		return false, nil
	}
	return true, v.tell(ctx, f)
}

// await returns when the log has more, a moment later, or when the views must
// be rebuilt.
func (v *Views) await(ctx context.Context, row int64) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	v.mu.Lock()
	v.interrupt = cancel
	v.mu.Unlock()
	if v.mustRebuild() != nil {
		return nil
	}
	err := v.opt.Source.Wait(waiting, row)
	if waiting.Err() != nil {
		return ctx.Err()
	}
	wait(waiting, gather)
	return err
}

// rebuildFor says that the views must be rebuilt. It is what a query calls that
// finds the file damaged.
func (v *Views) rebuildFor(why error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.must == nil {
		v.must = why
	}
	if v.interrupt != nil {
		v.interrupt()
	}
}

func (v *Views) mustRebuild() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.must
}

// rebuild is Rebuild for a reason. Views that are only behind follow the log if
// they cannot be rebuilt.
func (v *Views) rebuild(ctx context.Context, why error) error {
	v.logger.WarnContext(ctx, "views are made anew", "path", v.opt.Path, "reason", why.Error())
	err := v.Rebuild(ctx)
	if err == nil || errors.Is(why, errBehind) {
		v.mu.Lock()
		v.must = nil
		v.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}

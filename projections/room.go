package projections

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrRoom is for a rebuild that would take the room that is kept for deciding.
var ErrRoom = errors.New("there is not room enough to make the views anew")

const (
	// floor is the room that views leave free, in bytes: what the log keeps for
	// what is under way (journal.Options.FreeBytes). Below it the log takes no new
	// work, and views must not be why.
	floor = 64 << 20
	// recordBytes is how much of views.db one record comes to where nobody has
	// measured it, search included.
	recordBytes = 1800
	// checkRoom is how often a rebuild looks at what is left.
	checkRoom = 200 * time.Millisecond
)

// estimate is how large the views of the whole log will be, in bytes: by the
// file that there is, or by what others came to.
func (v *Views) estimate() uint64 {
	s := v.Status()
	if found, err := os.Stat(v.opt.Path); err == nil && s.Records > 1000 {
		return uint64(found.Size()) / s.Records * s.Head //nolint:gosec // a size is positive
	}
	return recordBytes * s.Head
}

// hasRoom fails with ErrRoom where so many bytes more would leave less than the
// floor.
func (v *Views) hasRoom(more uint64) error {
	if v.opt.Room == nil || v.opt.Path == "" {
		return nil
	}
	free, _, ok := v.opt.Room()
	if !ok || free >= floor+more {
		return nil
	}
	return fmt.Errorf("%w: %d MiB are free, they need about %d MiB, and %d MiB are kept for deciding; free some, it goes on by itself",
		ErrRoom, free>>20, more>>20, floor>>20)
}

// guarded runs what fills the disk, and cuts it off with ErrRoom where it comes
// to the floor.
func (v *Views) guarded(ctx context.Context, fill func(context.Context) error) error {
	ctx, cut := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(checkRoom)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if err := v.hasRoom(0); err != nil {
					cut(err)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	err := fill(ctx)
	cut(nil)
	<-ended
	if why := context.Cause(ctx); err != nil && errors.Is(why, ErrRoom) {
		return why
	}
	return err
}

package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/events"
)

const (
	alivePeriod = 10 * time.Minute // between alive events
	clockPeriod = 5 * time.Second  // between looks at the clock
	clockStep   = time.Second      // a jump of the wall clock that is recorded
)

// pulse says now and then that the process is alive, and records jumps of the
// wall clock against the monotonic one: people read the wall clock, deadlines
// run on the other.
func (c *Countersign) pulse(ctx context.Context) error {
	alive := time.NewTicker(alivePeriod)
	defer alive.Stop()
	look := time.NewTicker(clockPeriod)
	defer look.Stop()
	began, wall := time.Now(), c.wall()
	for {
		select {
		case <-alive.C:
			c.note(ctx, &events.Alive{BootID: c.Boot, Heads: c.Heads()})
		case <-look.C:
			should := wall.Add(time.Since(began))
			now := c.wall()
			if off := now.Sub(should).Abs(); off >= clockStep {
				c.logger.WarnContext(ctx, "the clock was set; deadlines go on by the monotonic one, and the log's time follows at the next start", "before", should, "after", now)
				c.note(ctx, &events.ClockStep{BootID: c.Boot, Before: events.At(should), After: events.At(now)})
			}
			began, wall = time.Now(), now
		case <-ctx.Done():
			return nil
		}
	}
}

// wall reads the wall clock alone: two times that have monotonic readings as
// well are compared by those, and no step would ever show.
func (c *Countersign) wall() time.Time { return c.o.Clock().Round(0) }

// note records an event that nothing waits for.
func (c *Countersign) note(ctx context.Context, e events.Event) {
	if _, err := c.Log.Append(ctx, events.Draft{Data: e}); err != nil && ctx.Err() == nil {
		c.logger.WarnContext(ctx, "an event could not be recorded", "type", string(e.Type()), "error", err)
	}
}

package projections

import (
	"context"
	"errors"
	"time"
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
// views that are missing, damaged, gone or far behind are rebuilt.
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
		if damage(err) || errors.Is(err, errOther) {
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
	if err := v.look(); err != nil {
		v.work.Unlock()
		v.rebuildFor(err)
		return nil
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

// step applies one batch; v.work is held. While there is much to follow, that
// must not take the room that is kept for deciding.
func (v *Views) step(ctx context.Context, f *follower) (more bool, err error) {
	if v.opt.Source.Head() > f.audit.heads.records()+fillSize {
		if err := v.hasRoom(0); err != nil {
			return false, err
		}
	}
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
// be rebuilt, or looked at.
func (v *Views) await(ctx context.Context, row int64) error {
	waiting, cancel := context.WithTimeout(ctx, lookEvery)
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
	if !errors.Is(why, errBehind) {
		if err := v.giveUp(ctx, why); err != nil {
			return err
		}
	}
	v.rest(ctx, v.pace.next())
	if err := ctx.Err(); err != nil {
		return err
	}
	if v.mustRebuild() == nil { // somebody else has made them
		return nil
	}
	v.logger.WarnContext(ctx, "views are made anew", "path", v.opt.Path, "reason", why.Error())
	err := v.Rebuild(ctx)
	v.pace.ended()
	switch {
	case errors.Is(err, ErrRebuilding): // what it makes is as good
		wait(ctx, minPause)
		err = nil
	case err != nil && errors.Is(why, errBehind):
		v.made()
	}
	return err
}

// made notes that the views need not be made anew any more.
func (v *Views) made() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.must = nil
	if v.interrupt != nil {
		v.interrupt() // who rests before the next attempt
	}
}

// rest waits, or until somebody else has made the views anew.
func (v *Views) rest(ctx context.Context, d time.Duration) {
	resting, cancel := context.WithCancel(ctx)
	defer cancel()
	v.mu.Lock()
	v.interrupt = cancel
	v.mu.Unlock()
	if v.mustRebuild() != nil {
		wait(resting, d)
	}
}

// pace is how often views are made anew: the first time at once, then ever more
// seldom, however the last one ended.
type pace struct {
	last  time.Time // when a rebuild ended
	pause time.Duration
}

const (
	firstRest = time.Second
	lastRest  = 5 * time.Minute
	calm      = time.Hour // after which it begins anew
)

// next is how long to wait before a rebuild.
func (p *pace) next() time.Duration {
	switch {
	case p.last.IsZero() || time.Since(p.last) > calm:
		p.pause = 0
	default:
		p.pause = min(max(2*p.pause, firstRest), lastRest)
	}
	return p.pause
}

func (p *pace) ended() { p.last = time.Now() }

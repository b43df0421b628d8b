package projections

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// ErrDamaged is for a query that found the views damaged. They are being made
// anew: ask again when Status says that they know the log.
var ErrDamaged = errors.New("the views are damaged, and are being made anew")

// errGone: what is written to the open file is lost with this process.
var errGone = errors.New("the file of the views was deleted or replaced while it was open")

const (
	// lookEvery is how often the file is looked for under its name.
	lookEvery = 2 * time.Second
	// healOnce is how long after a rebuild for rows that could not be read another
	// one may be begun for such rows.
	healOnce = time.Hour
)

// doubt has the views made anew for what a query failed with, and reports
// whether they are.
func (v *Views) doubt(why error) bool {
	if errors.Is(why, errRow) && !v.mayHeal(why) {
		v.logger.Error("a row of the views cannot be read, and a rebuild does not mend it: its page fails", "error", why.Error())
		return false
	}
	v.rebuildFor(why)
	return true
}

// healed remembers which rows the views were made anew for: what a rebuild does
// not mend must not bring about one after the other.
type healed struct {
	last  time.Time
	texts map[string]struct{} // of the errors; one an hour at most
}

// mayHeal reports whether a rebuild may mend what a query failed with, or is
// about to.
func (v *Views) mayHeal(why error) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.must != nil {
		return true
	}
	h := &v.healed
	if _, again := h.texts[why.Error()]; again || !h.last.IsZero() && time.Since(h.last) < healOnce {
		return false
	}
	if h.texts == nil {
		h.texts = map[string]struct{}{}
	}
	h.texts[why.Error()], h.last = struct{}{}, time.Now()
	return true
}

// look fails with errGone where the file is not under its name any more; v.work
// is held.
func (v *Views) look() error {
	if v.opened == nil || time.Since(v.looked) < lookEvery {
		return nil
	}
	v.looked = time.Now()
	found, err := os.Stat(v.opt.Path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(found, v.opened) {
		return errGone
	}
	return nil // what cannot be looked at now is looked at again
}

// opens notes which file is open; v.work is held, or nothing runs yet.
func (v *Views) opens() {
	v.opened, v.looked = nil, time.Now()
	if v.opt.Path == "" {
		return
	}
	if found, err := os.Stat(v.opt.Path); err == nil {
		v.opened = found
	}
}

// giveUp puts something empty in the place of a file that is of no use: a page
// then says that it does not know, and does not fail or tell a part of it. What
// is damaged is deleted, which makes room for the new file.
func (v *Views) giveUp(ctx context.Context, why error) error {
	if v.opt.Path == "" {
		return nil
	}
	v.work.Lock()
	defer v.work.Unlock()
	if v.follower != nil {
		v.forget(ctx)
		err := v.db.exchange(ctx, func(old *sqlite.DB) (*sqlite.DB, error) {
			empty, err := openFile(ctx, "")
			if err != nil {
				return nil, err
			}
			if err := old.Close(); err != nil {
				v.logger.WarnContext(ctx, "views that are given up were not closed cleanly", "error", err.Error())
			}
			v.follower, v.opened = nil, nil
			return empty, nil
		})
		if err != nil {
			return err
		}
	}
	if damage(why) || errors.Is(why, errGone) {
		return remove(v.opt.Path)
	}
	return nil
}

// forget says that the views know nothing any more. It comes before they are
// empty, so that who read them and finds the same Status.Lost after it has read
// them whole.
func (v *Views) forget(ctx context.Context) {
	oldest := v.firstRecord(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.status
	v.status = Status{Lost: s.Lost + 1, Rebuilding: s.Rebuilding, Fault: s.Fault, oldest: oldest}
	v.wake()
}

// firstRecord is when the log began, by its first record; 0 where nobody can
// say.
func (v *Views) firstRecord(ctx context.Context) (logTime int64) {
	entries, err := v.opt.Source.Read(ctx, 0, 1)
	if err != nil || len(entries) == 0 {
		return 0
	}
	return entries[0].Record.LogTime
}

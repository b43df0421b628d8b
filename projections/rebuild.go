package projections

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// ErrRebuilding is for a rebuild while there is one.
var ErrRebuilding = errors.New("the views are being rebuilt already")

// Rebuild makes the views anew from the log, in a new file beside the old one,
// which keeps serving and following the log, and swaps the two. Status says how
// far it is. It may be called from any goroutine; ErrRebuilding where another
// one is at it. A process that dies meanwhile leaves the old file, and a
// left-over that the next start deletes.
func (v *Views) Rebuild(ctx context.Context) error {
	if !v.building.TryLock() {
		return ErrRebuilding
	}
	defer v.building.Unlock()
	v.rebuilding(&Rebuilding{Total: v.opt.Source.Head()})
	defer v.rebuilding(nil)
	defer giveBack(debug.SetGCPercent(collectRarely))
	f, err := v.build(ctx)
	if err == nil {
		err = v.exchange(ctx, f)
	}
	if err == nil {
		v.made()
	}
	if err != nil {
		v.sweep(ctx)
		return fmt.Errorf("views: %w", err)
	}
	return nil
}

// sweep deletes what is left of a rebuild that did not end.
func (v *Views) sweep(ctx context.Context) {
	if v.opt.Path == "" {
		return
	}
	if err := remove(v.opt.Path + beside); err != nil {
		v.logger.WarnContext(ctx, "what is left of a rebuild stays", "error", err.Error())
	}
}

// collectRarely is at which growth memory is collected while a rebuild makes much
// garbage and holds little: it costs some tens of megabytes, and saves a tenth of
// the work.
const collectRarely = 150

// giveBack returns to the system what a rebuild took, since the process will not
// need it again soon, and has memory collected as before.
func giveBack(collect int) {
	debug.SetGCPercent(collect)
	debug.FreeOSMemory()
	sqlite.Trim()
}

// build makes a new file that has nearly caught up with the log.
func (v *Views) build(ctx context.Context) (*follower, error) {
	if err := v.hasRoom(v.estimate()); err != nil {
		return nil, err
	}
	f, err := v.begin(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.guarded(ctx, func(ctx context.Context) error { return v.complete(ctx, f) }); err != nil {
		return nil, errors.Join(err, f.db.Close())
	}
	if v.opt.Path == "" {
		return f, nil
	}
	if err := f.db.Close(); err != nil {
		return nil, err
	}
	if err := syncFile(v.opt.Path + beside); err != nil {
		return nil, err
	}
	db, err := openFile(ctx, v.opt.Path+beside)
	if err != nil {
		return nil, err
	}
	return newFollower(ctx, db, v.opt.Source)
}

// begin opens a new file with its tables.
func (v *Views) begin(ctx context.Context) (*follower, error) {
	var db *sqlite.DB
	var err error
	if v.opt.Path == "" {
		db, err = sqlite.OpenMemory(ctx)
	} else if err = remove(v.opt.Path + beside); err == nil {
		db, err = sqlite.Open(ctx, v.opt.Path+beside, sqlite.Options{Bulk: true, CacheKiB: 8 << 10})
	}
	if err != nil {
		return nil, err
	}
	if err := sqlite.Migrate(ctx, db.Write, files(), applicationID); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f, err := newFollower(ctx, db, v.opt.Source)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

// finish returns what is done to a file that is full. Nothing of it is ever undone: if it fails,
// the file is thrown away, so that no journal grows in memory.
func finish() []string {
	return []string{
		"PRAGMA journal_mode = OFF",
		indexes,
		"PRAGMA journal_mode = MEMORY",
	}
}

// complete fills a file and makes its indexes.
func (v *Views) complete(ctx context.Context, f *follower) error {
	if err := f.fill(ctx, func(n uint64) { v.rebuilding(&Rebuilding{Done: n, Total: v.opt.Source.Head()}) }); err != nil {
		return err
	}
	err := f.db.Raw(ctx, func(conn *sqlite.Conn) error {
		return inTransaction(conn, func() error { return mergeAll(conn) })
	})
	if err != nil {
		return err
	}
	n := f.audit.heads.records()
	v.rebuilding(&Rebuilding{Done: n, Total: max(n, v.opt.Source.Head()), Indexing: true})
	for _, text := range finish() {
		if _, err := f.db.Write.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// exchange catches up what the log got meanwhile, and puts the new file in the
// place of the old one.
func (v *Views) exchange(ctx context.Context, f *follower) error {
	for more, err := true, error(nil); more; { // while the old one still follows
		if more, err = f.step(ctx); err != nil {
			return errors.Join(err, f.db.Close())
		}
	}
	v.work.Lock()
	defer v.work.Unlock()
	for more, err := true, error(nil); more; {
		if more, err = f.step(ctx); err != nil {
			return errors.Join(err, f.db.Close())
		}
	}
	if v.opt.Path == "" {
		return v.adopt(ctx, f)
	}
	if err := f.db.Close(); err != nil {
		return err
	}
	return v.swap(context.WithoutCancel(ctx))
}

// swap renames the new file and opens it, between two queries.
func (v *Views) swap(ctx context.Context) error {
	var f *follower
	err := v.db.exchange(ctx, func(old *sqlite.DB) (*sqlite.DB, error) {
		err := old.Close()
		if err != nil || v.follower == nil { // then the file, if there is one, is of no use
			err = remove(v.opt.Path)
		}
		if err == nil {
			err = replace(v.opt.Path, v.opt.Path+beside)
		}
		if err == nil {
			f, err = v.openFollower(ctx)
		}
		if err != nil { // Run opens what is there
			v.follower, v.opened = nil, nil
			db, emptyErr := openFile(ctx, "")
			return db, errors.Join(err, emptyErr)
		}
		v.follower = f
		v.opens()
		return f.db, nil
	})
	if err != nil {
		return err
	}
	return v.tell(ctx, f)
}

// openFollower opens the file of the views.
func (v *Views) openFollower(ctx context.Context) (*follower, error) {
	db, err := openFile(ctx, v.opt.Path)
	if err != nil {
		return nil, err
	}
	f, err := newFollower(ctx, db, v.opt.Source)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

// tell publishes where a follower stands.
func (v *Views) tell(ctx context.Context, f *follower) error {
	status, err := f.status(ctx)
	if err != nil {
		return err
	}
	if status.CaughtUp = status.Records >= v.opt.Source.Head(); status.CaughtUp {
		v.export()
	}
	v.publish(status)
	return nil
}

package projections

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// Options say how to open the views.
type Options struct {
	// Path is where views.db is; "" keeps the views in memory.
	Path   string
	Source Source
	// RebuildBeyond is how many records views may be behind the log and still
	// follow it in place; beyond it, they are built anew beside the old ones. 0:
	// 50,000.
	RebuildBeyond uint64
	// Room returns how many bytes are free where the file is, and in all; ok is
	// false where nobody can say. A rebuild that would leave less than 64 MiB does
	// not begin, or is cut off. nil: it takes what there is.
	Room func() (free, total uint64, ok bool)
	// Gate tells what deciding needs while the views are behind; nil: then nobody
	// knows what waits.
	Gate   Gate
	Logger *slog.Logger // nil: none
}

// rebuildBeyond: up to it, following in place takes some seconds.
const rebuildBeyond = 50_000

// Views are the audit views and their reader. Queries may be called from any
// goroutine, while Run runs and before.
type Views struct {
	opt    Options
	logger *slog.Logger
	db     *current // what answers

	standIn *standIn // what answers for deciding while they are behind; nil: nothing

	work     sync.Mutex  // held over each batch, and over an exchange
	follower *follower   // work; nil: what answers is empty, until there are views
	opened   os.FileInfo // work; the file that is open; nil: none
	looked   time.Time   // work; when opened was last looked for
	pace     pace        // of Run

	building  sync.Mutex           // held by a rebuild
	exported  atomic.Pointer[sums] // what scrapers see: the audit's, once it had caught up
	mu        sync.Mutex
	must      error              // mu; why the views must be rebuilt, or nil
	healed    healed             // mu
	interrupt context.CancelFunc // mu; ends Run's wait for the log
	status    Status             // mu
	changed   chan struct{}      // mu; closed and replaced when status moves
}

// Open opens the views. A file that this build did not make from this log, or
// that is damaged, is made anew: at once where the log is short, else by Run,
// and until then queries find nothing. So it is where the file cannot be opened
// for now. One of another program is refused.
func Open(ctx context.Context, o Options) (*Views, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.RebuildBeyond == 0 {
		o.RebuildBeyond = rebuildBeyond
	}
	v := &Views{opt: o, logger: o.Logger, changed: make(chan struct{})}
	v.db = &current{damaged: v.doubt}
	if o.Gate != nil {
		v.standIn = &standIn{source: o.Source, gate: o.Gate}
	}
	v.status.oldest = v.firstRecord(ctx)
	v.sweep(ctx) // after a rebuild that was cut off
	if err := v.open(ctx); err != nil {
		return nil, fmt.Errorf("views: %w", err)
	}
	return v, nil
}

// open opens the file, or something empty until there is one.
func (v *Views) open(ctx context.Context) error {
	err := v.try(ctx)
	switch {
	case err == nil:
		return nil
	case v.opt.Path == "" || errors.Is(err, sqlite.ErrForeign) || ctx.Err() != nil:
		return err
	case !disposable(err) && !errors.Is(err, errMissing):
		v.fault(ctx, err) // Run tries again
	case v.opt.Source.Head() > v.opt.RebuildBeyond:
		v.rebuildFor(err)
	default:
		v.logger.WarnContext(ctx, "views are made anew", "path", v.opt.Path, "reason", err.Error())
		if err := remove(v.opt.Path); err != nil {
			return err
		}
		return v.use(ctx)
	}
	return v.empty(ctx)
}

// errMissing: there is no file, and much to put into it.
var errMissing = errors.New("there are no views yet")

// try opens the file that is there.
func (v *Views) try(ctx context.Context) error {
	if _, err := os.Stat(v.opt.Path); errors.Is(err, fs.ErrNotExist) && v.opt.Source.Head() > v.opt.RebuildBeyond && v.opt.Path != "" {
		return errMissing
	}
	return v.use(ctx)
}

// use opens the file, which is made where there is none.
func (v *Views) use(ctx context.Context) error {
	f, err := v.openFollower(ctx)
	if err != nil {
		return err
	}
	return v.adopt(ctx, f)
}

// adopt makes a follower the one whose file answers.
func (v *Views) adopt(ctx context.Context, f *follower) error {
	err := v.db.exchange(ctx, func(old *sqlite.DB) (*sqlite.DB, error) {
		if old == nil {
			return f.db, nil
		}
		return f.db, old.Close()
	})
	if err != nil {
		return err
	}
	v.follower = f
	v.opens()
	n, head := f.audit.heads.records(), v.opt.Source.Head()
	if v.opt.Path != "" && head > n+v.opt.RebuildBeyond {
		v.rebuildFor(fmt.Errorf("%w: %d of %d records", errBehind, n, head))
	}
	return v.tell(ctx, f)
}

// errBehind: building anew is faster than following.
var errBehind = errors.New("the views are far behind the log")

// empty answers with nothing.
func (v *Views) empty(ctx context.Context) error {
	db, err := openFile(ctx, "")
	if err != nil {
		return err
	}
	return v.db.exchange(ctx, func(*sqlite.DB) (*sqlite.DB, error) { return db, nil })
}

// Close closes the file. Run and Rebuild must have returned.
func (v *Views) Close() error { return v.db.close() }

package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/generate"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/projections"
)

// viewEvents is the size of the log under the views, if nothing else is said.
const viewEvents = 200_000

// viewPending is how many of its requests wait at its end.
const viewPending = 200

// viewLog is a generated log and the views of it, which the parts rebuild,
// pages and searches share.
type viewLog struct {
	dir     string
	journal *journal.Journal
	log     *bus.Producer
	records uint64
	views   *projections.Views // nil until they are built

	stop func()
	runs errgroup.Group
}

// viewed returns the log of the views, which is generated once.
func (b *bench) viewed(ctx context.Context) (*viewLog, error) {
	if b.log != nil {
		return b.log, nil
	}
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	j, err := journal.Open(ctx, journal.Options{Path: filepath.Join(dir, "journal.db")})
	if err != nil {
		return nil, err
	}
	made, err := generate.Fill(ctx, j, generate.Options{Events: cmp.Or(b.o.Events, viewEvents), Pending: viewPending})
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	fmt.Fprintf(b.o.Out, "generated %d events, %d MB\n", made.Events, made.Bytes/1e6)
	b.log = &viewLog{dir: dir, journal: j, log: bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "agentd/bench/views"})}
	b.log.records = b.log.log.Head()
	return b.log, nil
}

// built returns the log with views that follow it.
func (b *bench) built(ctx context.Context) (*viewLog, error) {
	l, err := b.viewed(ctx)
	if err != nil || l.views != nil {
		return l, err
	}
	l.views, err = projections.Open(ctx, projections.Options{Path: l.path(), Source: l.log})
	if err == nil && l.views.Status().Records < l.records {
		err = l.views.Rebuild(ctx)
	}
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.runs.Go(func() error { return l.journal.Run(running) })
	l.runs.Go(func() error { return l.views.Run(running) })
	return l, nil
}

func (l *viewLog) path() string { return filepath.Join(l.dir, "views.db") }

// Record implements ui.Recorder: what is looked at goes on the record, as in
// agentd.
func (l *viewLog) Record(ctx context.Context, a *events.Access, session string) error {
	_, err := l.log.Append(ctx, events.Draft{Session: session, Data: a})
	return err
}

func (l *viewLog) close() error {
	if l == nil {
		return nil
	}
	var errs []error
	if l.stop != nil {
		l.stop()
		errs = append(errs, l.runs.Wait())
	}
	if l.views != nil {
		errs = append(errs, l.views.Close())
	}
	return errors.Join(append(errs, l.journal.Close())...)
}

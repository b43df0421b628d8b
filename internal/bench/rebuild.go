package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/projections"
)

const (
	rebuildGoal = 30_000 // events/s
	readAtOnce  = 2048   // records
)

// measureRebuild builds all views, search included, from a log on the disk.
// Beside it stand two limits of the same run: to read and decode the records
// and to read their texts; and to insert as many rows with as many bytes.
func (b *bench) measureRebuild(ctx context.Context) ([]Row, error) {
	l, err := b.viewed(ctx)
	if err != nil {
		return nil, err
	}
	read, err := timed(l.records, func() error { return l.readAll(ctx) })
	if err != nil {
		return nil, err
	}
	before := peakSince()
	ours, err := timed(l.records, func() error { return l.rebuild(ctx) })
	if err != nil {
		return nil, err
	}
	peak := peakSince()
	file, err := os.Stat(l.path())
	if err != nil {
		return nil, err
	}
	raw, err := timed(l.records, func() error { return l.insertAll(ctx, file.Size()) })
	if err != nil {
		return nil, err
	}
	each := func(f figures) string {
		return fmt.Sprintf("%.0f/s, %.0f µs CPU", f.perSecond, float64(f.cpu.Nanoseconds())/1e3)
	}
	what := fmt.Sprintf("rebuild of %d events", l.records)
	return []Row{
		{
			What: what, Ours: each(ours), Limit: each(read), Ratio: times(ours.perSecond / read.perSecond), CPU: ours.cpu,
			Goal: fmt.Sprintf("≥ %d/s", rebuildGoal), Met: ours.perSecond >= rebuildGoal,
			Note: fmt.Sprintf("the limit reads and decodes all records and their texts; views of %d MB; at most %.0f MB in memory, %.0f MB before",
				file.Size()/1e6, peak, before),
		},
		{
			What: "the same, beside inserts", Ours: each(ours), Limit: each(raw), Ratio: times(ours.perSecond / raw.perSecond),
			Note: "the limit inserts as many rows, with as many bytes as the views have, into one table",
		},
	}, nil
}

// timed runs f over n events.
func timed(n uint64, f func() error) (figures, error) {
	began, cpu := time.Now(), cpuTime()
	err := f()
	return figures{
		perSecond: float64(n) / time.Since(began).Seconds(),
		cpu:       (cpuTime() - cpu) / time.Duration(n), //nolint:gosec // events of a log
	}, err
}

// rebuild makes the views of the log.
func (l *viewLog) rebuild(ctx context.Context) error {
	v, err := projections.Open(ctx, projections.Options{Path: l.path(), Source: l.log, RebuildBeyond: 1})
	if err != nil {
		return err
	}
	if err = v.Rebuild(ctx); err == nil && v.Status().Records != l.records {
		err = fmt.Errorf("the views have %d of %d records", v.Status().Records, l.records)
	}
	return errors.Join(err, v.Close())
}

// readAll reads and decodes the log.
func (l *viewLog) readAll(ctx context.Context) error {
	for row := int64(0); ; {
		entries, err := l.log.Read(ctx, row, readAtOnce)
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			if r := fold.Decode(e.Record); r.Err != nil {
				return r.Err
			}
		}
		first := row + 1
		row = entries[len(entries)-1].Row
		if err := l.log.Payloads(ctx, first, row, func(int64, int, string, []byte) bool { return true }); err != nil {
			return err
		}
	}
}

// insertAll inserts a row for each record, of so many bytes in all.
func (l *viewLog) insertAll(ctx context.Context, size int64) (err error) {
	path := filepath.Join(l.dir, "raw.db")
	defer func() { err = errors.Join(err, remove(path)) }()
	db, err := sqlite.Open(ctx, path, sqlite.Options{Bulk: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	n := int64(l.records) //nolint:gosec // records of a log
	some := make([]byte, size/n)
	return db.Raw(ctx, func(c *sqlite.Conn) error {
		for _, q := range []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)", "BEGIN"} {
			if err := c.Exec(q); err != nil {
				return err
			}
		}
		for i := range n {
			if err := c.Exec("INSERT INTO t VALUES (?, ?)", i, some); err != nil {
				return err
			}
		}
		return c.Exec("COMMIT")
	})
}

package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// readyGoal is how long a start may take. One that finds no gate.db makes it
// anew from the log, which is said and has no goal.
const readyGoal = 2 * time.Second

// measureBoot starts agentd on a journal of many events: with everything there,
// without gate.db, and as it is right after generate.
func (b *bench) measureBoot(ctx context.Context) ([]Row, error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	if err := b.generate(ctx, dir); err != nil {
		return nil, err
	}
	first, built, err := b.firstBoot(ctx, dir)
	if err != nil {
		return nil, err
	}
	rows := []Row{b.bootRow("no gate.db, no views.db", first)}
	rows[0].Note = "the gate reads the whole log, once; the views are built beside serving"
	if b.o.Views {
		rows[0].Note += fmt.Sprintf(", all of them in %.0f s", built.Seconds())
	}
	whole, page, err := b.boot(ctx, dir)
	if err != nil {
		return nil, err
	}
	usual := b.bootRow("all files there", whole)
	usual.Goal, usual.Met = fmt.Sprintf("< %v", readyGoal), whole < readyGoal
	rows = append(rows, usual, Row{What: "first page (/history) after it", Ours: ms(page)})
	if err := remove(filepath.Join(dir, "data", "gate.db")); err != nil {
		return nil, err
	}
	without, _, err := b.boot(ctx, dir)
	if err != nil {
		return nil, err
	}
	return append(rows, b.bootRow("no gate.db", without)), nil
}

// bootEvents is the size of the journal, if nothing else is said.
const bootEvents = 1_000_000

func (b *bench) bootRow(files string, took time.Duration) Row {
	return Row{What: fmt.Sprintf("agentd ready, %d events, %s", cmp.Or(b.o.Events, bootEvents), files), Ours: fmt.Sprintf("%.2f s", took.Seconds())}
}

func (b *bench) generate(ctx context.Context, dir string) error {
	program, err := b.program(ctx)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, program, "generate", "--events", strconv.Itoa(cmp.Or(b.o.Events, bootEvents)), "--data-dir", filepath.Join(dir, "data")).CombinedOutput() //nolint:gosec // ours
	if err != nil {
		return fmt.Errorf("agentd generate: %w: %s", err, out)
	}
	fmt.Fprintf(b.o.Out, "generated %s", out)
	return nil
}

// firstBoot starts agentd without gate.db and views, and waits until the views
// are built if it should.
func (b *bench) firstBoot(ctx context.Context, dir string) (ready, built time.Duration, err error) {
	began := time.Now()
	d, err := b.start(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	if b.o.Views {
		err = b.awaitViews(ctx, filepath.Join(dir, "data"))
		built = time.Since(began)
	}
	if last := d.stop(); err == nil {
		err = last
	}
	return d.ready, built, err
}

// awaitViews waits until the views have the whole journal.
func (b *bench) awaitViews(ctx context.Context, data string) error {
	j, err := journal.Open(ctx, journal.Options{Path: filepath.Join(data, "journal.db"), ReadOnly: true})
	if err != nil {
		return err
	}
	defer j.Close()
	views, err := sqlite.Open(ctx, filepath.Join(data, "views.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer views.Close()
	again := time.NewTicker(250 * time.Millisecond)
	defer again.Stop()
	for want := j.Head().Row; ; {
		var row int64
		if err := views.Read.QueryRowContext(ctx, "SELECT coalesce(max(row), 0) FROM progress").Scan(&row); err == nil && row >= want {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// boot starts agentd, asks for a page, and stops it.
func (b *bench) boot(ctx context.Context, dir string) (ready, page time.Duration, err error) {
	d, err := b.start(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	err = d.get(ctx, "/history")
	page = time.Since(began)
	if last := d.stop(); err == nil {
		err = last
	}
	return d.ready, page, err
}

// remove removes a database.
func remove(path string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

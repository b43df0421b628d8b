package cases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// chain is a journal that is written, changed behind its back, and verified.
type chain struct {
	path string
	head journal.Head // kept outside of the file
}

// judgeSteps plays steps.json: sentences of a small vocabulary about a sealed
// log. Each change is undone by the next step.
func judgeSteps(ctx context.Context, _ Options, f *folder) error {
	var steps []string
	if err := json.Unmarshal(f.read("steps.json"), &steps); err != nil {
		return fmt.Errorf("steps.json: %w", err)
	}
	dir, err := os.MkdirTemp("", "countersign-case-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := &chain{path: filepath.Join(dir, "journal.db")}
	results := f.expect.strings("results")
	same(f.report, "the number of steps", len(steps), len(results))
	for i := range min(len(steps), len(results)) {
		got, err := c.play(ctx, steps[i])
		if errors.Is(err, errNotUnderstood) {
			f.report.leave(steps[i], "it is a sentence for people")
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", steps[i], err)
		}
		want := results[i]
		f.report.check("results", got == want || want == "detected" && got != "ok", "%s: got %s, want %s", steps[i], got, want)
	}
	return nil
}

var (
	appendStep = regexp.MustCompile(`^append (\d+) events from (\d+) goroutines`)
	changeStep = regexp.MustCompile(`change one byte of row (\d+)`)
	swapStep   = regexp.MustCompile(`swap rows (\d+) and (\d+)`)
	countStep  = regexp.MustCompile(`verify -> ok, (\d+)`)
	deleteStep = regexp.MustCompile(`delete rows (\d+)-(\d+)`)
)

// play plays a step, and tells what it came to: "ok", or what verifying found.
func (c *chain) play(ctx context.Context, step string) (string, error) {
	numbers := func(re *regexp.Regexp) (a, b int) {
		m := append(re.FindStringSubmatch(step), "0", "0")
		a, _ = strconv.Atoi(m[1])
		b, _ = strconv.Atoi(m[2])
		return a, b
	}
	switch {
	case appendStep.MatchString(step):
		events, writers := numbers(appendStep)
		return "ok", c.fill(ctx, events, writers)
	case changeStep.MatchString(step):
		row, _ := numbers(changeStep)
		return c.changed(ctx, fmt.Sprintf(`UPDATE records SET record = CAST(substr(record, 1, length(record) - 1) || x'00' AS BLOB) WHERE row = %d`, row))
	case swapStep.MatchString(step):
		a, b := numbers(swapStep)
		return c.changed(ctx, fmt.Sprintf(`CREATE TEMP TABLE swap AS SELECT row, record FROM records WHERE row IN (%[1]d, %[2]d);
			UPDATE records SET record = (SELECT record FROM swap WHERE row = %[2]d) WHERE row = %[1]d;
			UPDATE records SET record = (SELECT record FROM swap WHERE row = %[1]d) WHERE row = %[2]d`, a, b))
	case deleteStep.MatchString(step):
		a, b := numbers(deleteStep)
		return c.changed(ctx, fmt.Sprintf(`DELETE FROM records WHERE row BETWEEN %d AND %d`, a, b))
	case strings.Contains(step, "delete all rows of one run"):
		return c.changed(ctx, `DELETE FROM records WHERE session = (SELECT session FROM records WHERE row = 500)`)
	case strings.Contains(step, "vacuum"):
		return c.changed(ctx, "VACUUM")
	case strings.Contains(step, "verify -> ok"):
		if m := countStep.FindStringSubmatch(step); m != nil && m[1] != strconv.FormatInt(c.head.Row, 10) {
			return fmt.Sprintf("ok, but %d", c.head.Row), nil
		}
		return c.verify(ctx, c.path)
	}
	return "", notUnderstood("%s", step)
}

// fill appends events, and keeps the head. A second process is refused by the
// lock: that is how one log is kept whole.
func (c *chain) fill(ctx context.Context, count, writers int) (err error) {
	j, err := journal.Open(ctx, journal.Options{Path: c.path})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- j.Run(running) }()
	defer func() {
		stop()
		c.head = j.Head()
		err = errors.Join(err, <-ended, j.Close())
	}()
	if other, err := journal.Open(ctx, journal.Options{Path: c.path}); !errors.Is(err, journal.ErrLocked) {
		if err == nil {
			err = other.Close()
		}
		return fmt.Errorf("a second writer was let in: %w", err)
	}
	log := bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "agentd/case/boot", Clock: time.Now})
	var group errgroup.Group
	for w := range writers {
		group.Go(func() error {
			for i := w; i < count; i += writers {
				draft := events.Draft{Session: fmt.Sprintf("run-%d", w), Data: &events.Access{Action: "view", Outcome: events.AccessOK, Resource: strconv.Itoa(i), Via: "cases"}}
				if _, err := log.Append(ctx, draft); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// changed changes a copy of the file as somebody would who knows how to: the
// triggers are put back afterwards. It returns what verifying the copy finds.
func (c *chain) changed(ctx context.Context, statements string) (string, error) {
	file, err := os.ReadFile(c.path)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(c.path), "changed-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "journal.db")
	if err := os.WriteFile(path, file, 0o600); err != nil { //nolint:gosec // our own folder
		return "", err
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{Synchronous: sqlite.Normal})
	if err != nil {
		return "", err
	}
	if err := errors.Join(withoutTriggers(ctx, db.Write, statements), db.Close()); err != nil {
		return "", err
	}
	return c.verify(ctx, path)
}

// withoutTriggers runs statements while the triggers are away.
func withoutTriggers(ctx context.Context, db *sql.DB, statements string) error {
	all, err := triggers(ctx, db)
	if err != nil {
		return err
	}
	do := []string{statements}
	for name, text := range all {
		do = append(append([]string{"DROP TRIGGER " + name}, do...), text)
	}
	for _, s := range do {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// triggers returns the text of each trigger by its name.
func triggers(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, err
		}
		all[name] = text
	}
	return all, rows.Err()
}

var damagedRow = regexp.MustCompile(`row (\d+)`)

// verify opens the file and verifies all of it, against the head that was
// kept.
func (c *chain) verify(ctx context.Context, path string) (string, error) {
	j, err := journal.Open(ctx, journal.Options{Path: path, ReadOnly: true})
	if err == nil {
		err = j.VerifyAll(ctx, func(int64) {})
		if err == nil && (j.Head().Row != c.head.Row || fmt.Sprint(j.Head().Partitions) != fmt.Sprint(c.head.Partitions)) {
			err = fmt.Errorf("%w: its head is not the one that was kept", journal.ErrDamaged)
		}
		err = errors.Join(err, j.Close())
	}
	switch {
	case err == nil:
		return "ok", nil
	case !errors.Is(err, journal.ErrDamaged):
		return "", err
	}
	if m := damagedRow.FindString(err.Error()); m != "" {
		return m, nil
	}
	return "detected", nil
}

package countersign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/internal/journal"
)

// notePeriod is how often the head is noted while it moves. What is lost of the
// log within it does not show.
const notePeriod = time.Second

// noteHeads keeps the head file at the log's head until ctx ends. It stands off
// the path of an append: a note that cannot be written delays and refuses
// nothing.
func (c *Countersign) noteHeads(ctx context.Context) error {
	if c.o.HeadFile == "" || c.o.Memory {
		return nil
	}
	if c.unnoted {
		c.tellUnnoted(ctx)
	}
	c.noteHead(ctx)
	tick := time.NewTicker(notePeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.noteHead(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// tellUnnoted says that there was no note of a log that had records: the first
// use of a head file, or somebody has removed it.
func (c *Countersign) tellUnnoted(ctx context.Context) {
	c.logger.WarnContext(ctx, "the head of this log had not been noted before: that it was put back earlier would not show; it is noted from now on",
		"path", c.o.HeadFile)
	c.note(ctx, &events.Access{
		Action: "note-head", Outcome: events.AccessOK, Via: "agentd",
		Reason: "there was no head file, though the log has records: a rollback before this start would not show",
	})
}

// noteHead notes the head where it has moved. A failure is told once until it
// works again.
func (c *Countersign) noteHead(ctx context.Context) {
	if c.o.HeadFile == "" || c.o.Memory || c.rollback != nil {
		return
	}
	head := c.journal.Head()
	if head.Row == c.noted || head.Row == 0 {
		return
	}
	err := c.writeNote(context.WithoutCancel(ctx), head)
	was := c.noteFailure.Swap(&noting{err})
	failed := was != nil && was.err != nil
	switch {
	case err != nil:
		c.noteFailures.Inc()
		if !failed {
			c.logger.WarnContext(ctx, "the log's head could not be noted; a rollback would show later, or not at all; it is tried again", "path", c.o.HeadFile, "error", err)
		}
	default:
		c.noted = head.Row
		if failed {
			c.logger.InfoContext(ctx, "the log's head is noted again", "path", c.o.HeadFile)
		}
	}
}

// noting is what came of the last note.
type noting struct{ err error }

func (c *Countersign) writeNote(ctx context.Context, head journal.Head) error {
	id, err := c.journal.LogID(ctx)
	if err != nil {
		return err
	}
	last, err := c.journal.Leaf(ctx, head.Row)
	if err != nil {
		return err
	}
	return journal.WriteNote(c.o.HeadFile, journal.NoteOf(head, id, last, c.Boot, c.o.Clock()))
}

// Noting returns why the log's head could not be noted the last time, nil where
// it was, or is not to be.
func (c *Countersign) Noting() error {
	n := c.noteFailure.Load()
	if n == nil || n.err == nil {
		return nil
	}
	return fmt.Errorf("the log's head cannot be noted in head-file: %w", n.err)
}

// checkFolder refuses a head file whose folder is not there: on a disk that is
// not mounted it would look as if nothing had been noted.
func checkFolder(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	return fmt.Errorf("head-file %s: its folder %s is not there: make it, or mount the disk that it is on", path, dir)
}

// noteMetrics are the instruments of the log's head.
func noteMetrics(reg prometheus.Registerer, readOnly bool) (failures prometheus.Counter, err error) {
	failures = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "countersign_head_note_failures_total", Help: "Attempts to note the log's head outside of the data directory that failed.",
	})
	state := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "countersign_log_read_only", Help: "1 where the log was found to be rolled back, so that nothing is recorded or run.",
	})
	if readOnly {
		state.Set(1)
	}
	return failures, instruments.RegisterAll(reg, failures, state)
}

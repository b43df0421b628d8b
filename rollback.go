package countersign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// ErrRolledBack says that the log is not the one that was there before, or not all of it.
// It is open for reading only.
var ErrRolledBack = errors.New("the log was rolled back")

// A data directory that is put back from a copy holds less than what happened.
// What was decided or started since is not in it: a call that ran would seem to
// wait, and an approval that was taken back to stand. So where something outside
// of the log remembers more, nothing is appended, and nothing runs, until a person
// has said what to do (Recover).

// lookForRollback holds the log against what the head file remembers, and then
// against what the gate does.
func (c *Countersign) lookForRollback(ctx context.Context) error {
	if c.o.HeadFile == "" || c.o.Memory {
		return nil
	}
	if err := checkFolder(c.o.HeadFile); err != nil {
		return err
	}
	note, found, err := journal.ReadNote(c.o.HeadFile)
	if err != nil {
		return err
	}
	if !found {
		c.unnoted = c.journal.Head().Row > 0
		return nil
	}
	c.rollback, err = rollbackFrom(ctx, c.journal, note)
	return err
}

// rollbackFrom says how a journal differs from what was noted of it, or nil
// where it goes on from there.
func rollbackFrom(ctx context.Context, j *journal.Journal, n journal.Note) (*events.Rollback, error) {
	r := &events.Rollback{
		By: events.NotedByHeadFile, Log: events.Digest(n.Log), Records: uint64(max(n.Rows, 0)), Boot: n.Boot, At: events.At(n.Time), Found: headsOf(j.Head()),
	}
	noted, err := n.Head()
	if err != nil {
		return nil, err
	}
	r.Noted = headsOf(noted)
	id, err := j.LogID(ctx)
	switch {
	case err != nil:
		return nil, err
	case id != "" && id != n.Log:
		r.Kind = events.RollbackOther
		return r, nil
	case j.Head().Row < n.Rows:
		r.Kind = events.RollbackShorter
		return r, nil
	}
	then, err := j.HeadAt(ctx, n.Rows)
	if err != nil || then.Equal(noted) {
		return nil, err
	}
	r.Kind = events.RollbackRewritten
	return r, nil
}

// rollbackOfGate is what gate.db proves by itself: it knows a later place of the
// same log.
func (c *Countersign) rollbackOfGate() *events.Rollback {
	row, kind := c.Gate.Ahead()
	if kind == "" {
		return nil
	}
	return &events.Rollback{
		Kind: kind, By: events.NotedByGate, Records: uint64(max(row, 0)), Noted: []events.Head{}, Found: c.Heads(), At: events.At(c.o.Clock()),
	}
}

// Rollback says how the log is found to be rolled back, or nil.
func (c *Countersign) Rollback() *events.Rollback { return c.rollback }

// ReadOnly returns why nothing is appended to the log, in words for people, as
// an ErrRolledBack; nil where it is open for writing.
func (c *Countersign) ReadOnly() error {
	if c.rollback == nil {
		return nil
	}
	return fmt.Errorf("%w: %s. What was recorded after that is not here, and what it let run is not known. Nothing is recorded, decided or run. "+
		"Put the right data directory back; or, if it is lost, stop agentd and run agentd recover, which says what accepting the loss would end",
		ErrRolledBack, c.whatFound())
}

// whatFound says what was found, without what to do.
func (c *Countersign) whatFound() string {
	r := c.rollback
	where := "gate.db beside it"
	if r.By == events.NotedByHeadFile {
		where = c.o.HeadFile
	}
	noted := fmt.Sprintf("%s remembers %d records", where, r.Records)
	if r.By == events.NotedByHeadFile {
		noted += " at " + r.At.UTC().Format(time.DateTime) + " UTC"
	}
	have := c.journal.Head().Row
	switch r.Kind {
	case events.RollbackShorter:
		return fmt.Sprintf("%s, the journal in %s has %d", noted, c.dir, have)
	case events.RollbackRewritten:
		return fmt.Sprintf("%s, and the journal in %s has other ones (%d)", noted, c.dir, have)
	case events.RollbackOther:
		return fmt.Sprintf("%s of another log than the journal in %s", noted, c.dir)
	}
	return noted
}

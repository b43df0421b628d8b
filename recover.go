package countersign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/bus"
)

// Recovery is what a rollback leaves open, or what accepting it has ended.
type Recovery struct {
	Rollback *events.Rollback // nil: the log is not rolled back
	Found    string           // what was found, in words
	Open     []gate.Unsure    // by session
}

// Recover accepts that a part of the log is lost: what is open at its end is
// ended, as ambiguous where it may have run, and the log's head is noted anew.
// Without accept it changes nothing, and says what it would end. Nobody else may
// have the log open for writing.
//
// It says first in the log what was found, so that a log that was recovered tells
// so for ever. Cut off at any point it can be done again: gate.db and the note of
// the head, by which the rollback was found, go last.
func Recover(ctx context.Context, dir string, o Options, accept bool) (r Recovery, err error) {
	c := &Countersign{Boot: events.NewID(), dir: dir, o: o.withDefaults()}
	c.logger = c.o.Logger
	if _, err := os.Stat(filepath.Join(dir, journalFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if err := c.openJournal(ctx); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.journal.Close()) }()
	if err := c.find(ctx); err != nil || c.rollback == nil {
		return r, err
	}
	r.Rollback, r.Found = c.rollback, c.whatFound()
	r.Open, err = c.recover(ctx, accept)
	return r, err
}

// find looks for a rollback.
func (c *Countersign) find(ctx context.Context) (err error) {
	if c.before, err = lookBack(ctx, c.journal); err != nil {
		return err
	}
	c.Log = bus.NewProducer(bus.ProducerOptions{Journal: c.journal, Source: source(c.before.node, c.Boot), Clock: c.o.Clock, Logger: c.logger})
	if err := c.lookForRollback(ctx); err != nil || c.rollback != nil {
		return err
	}
	if c.Gate, err = c.gateFor(ctx, filepath.Join(c.dir, "gate.db")); err != nil {
		return err
	}
	c.rollback = c.rollbackOfGate()
	return c.Gate.Close()
}

func (c *Countersign) gateFor(ctx context.Context, path string) (*gate.Gate, error) {
	g, err := gate.New(ctx, gate.Options{
		Log: c.Log, Policy: c.o.Policy, Path: path, Keep: true, Node: c.before.node, Boot: c.Boot, Names: c.o.Names, Logger: c.logger, Clock: c.o.Clock,
	})
	if err != nil {
		return nil, fmt.Errorf("open the gate: %w", err)
	}
	return g, nil
}

// recover looks at what is open, with a gate that reads the whole log, and ends it
// where that is accepted.
func (c *Countersign) recover(ctx context.Context, accept bool) (open []gate.Unsure, err error) {
	if c.Gate, err = c.gateFor(ctx, ""); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Gate.Close()) }()
	if !accept {
		return c.Gate.Unsure(ctx)
	}
	if open, err = c.accept(ctx); err != nil {
		return open, err
	}
	return open, c.forget(ctx)
}

// accept records the loss and ends what is open.
func (c *Countersign) accept(ctx context.Context) (open []gate.Unsure, err error) {
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var writer errgroup.Group
	writer.Go(func() error { return c.journal.Run(writing) })
	if err = c.tellRollback(ctx); err == nil {
		open, err = c.Gate.EndUnsure(ctx, c.rollback)
	}
	if err == nil {
		err = c.shutdown(writing, "recovered")
	}
	stop()
	return open, errors.Join(err, writer.Wait())
}

// tellRollback records the boot of this process, and what it found.
func (c *Countersign) tellRollback(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootWithin)
	defer cancel()
	_, err := c.Log.Append(ctx, events.Draft{Data: c.bootEvent()},
		events.Draft{Data: &events.Recovered{BootID: c.Boot, Calls: []events.CallKey{}, Rollback: c.rollback}})
	if err != nil {
		return fmt.Errorf("record the rollback: %w", err)
	}
	return nil
}

// forget makes the log as it is now the one that is remembered.
func (c *Countersign) forget(ctx context.Context) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(c.dir, "gate.db"+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget what gate.db knows of the lost part: %w", err)
		}
	}
	if c.o.HeadFile == "" {
		return nil
	}
	return c.writeNote(ctx, c.journal.Head())
}

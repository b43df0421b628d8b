package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/internal/journal"
)

// appendAtOnce is how many events generate appends in one commit.
const appendAtOnce = 1000

// generate fills a new journal with whole sessions, so that start, folds and
// views can be measured on a log of any size.
func (c command) generate() (err error) {
	count := 0
	cfg, done, err := c.load("generate", func(fs *flag.FlagSet) {
		fs.IntVar(&count, "events", 0, "how many events to make, about")
	})
	if err != nil || done {
		return err
	}
	if count < 1 || cfg.Bus != config.BusEmbedded {
		return fmt.Errorf("%w: agentd generate --events N --data-dir DIR", errUsage)
	}
	j, err := journal.Open(c.ctx, journal.Options{Path: filepath.Join(cfg.DataDir, "journal.db")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if j.Head().Row > 0 {
		return fmt.Errorf("%s holds a journal already; generate makes a new one: name another --data-dir", cfg.DataDir)
	}
	began := time.Now()
	made, err := fill(c.ctx, j, count)
	if err != nil {
		return err
	}
	took := time.Since(began)
	_, err = fmt.Fprintf(c.stdout, "%d events in %.1f s, %.0f events/s\n", made, took.Seconds(), float64(made)/took.Seconds())
	return err
}

// fill appends sessions until the journal has count events.
func fill(ctx context.Context, j *journal.Journal, count int) (made int, err error) {
	writing, stop := context.WithCancel(ctx)
	var writer errgroup.Group
	writer.Go(func() error { return j.Run(writing) })
	defer func() {
		stop()
		err = errors.Join(err, writer.Wait())
	}()
	for story := newStory(); made < count; {
		entries, err := story.sessions(min(appendAtOnce, count-made))
		if err != nil {
			return made, err
		}
		if _, err := j.Append(ctx, journal.Ends, entries...); err != nil {
			return made, err
		}
		made += len(entries)
	}
	return made, nil
}

func entriesOf(minted []events.Minted) []journal.Entry {
	entries := make([]journal.Entry, 0, len(minted))
	for _, m := range minted {
		entries = append(entries, journal.Entry{ID: m.ID, Session: m.Session, Type: string(m.Type), Envelope: m.Envelope, Payloads: m.Payloads})
	}
	return entries
}

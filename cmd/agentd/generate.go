package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/internal/generate"
	"github.com/countersign-dev/countersign/internal/journal"
)

// generate fills a new journal with whole sessions, so that start, folds and
// views can be measured, and looked at, on a log of any size.
func (c command) generate() (err error) {
	var o generate.Options
	cfg, done, err := c.load("generate", func(fs *flag.FlagSet) { generateFlags(fs, &o) })
	if err != nil || done {
		return err
	}
	if err := checkGenerate(o); err != nil {
		return err
	}
	if cfg.Bus != config.BusEmbedded {
		return fmt.Errorf("%w: agentd generate writes a journal of the embedded bus; this configuration has another", errUsage)
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
	made, err := generate.Fill(c.ctx, j, o)
	if err != nil {
		return err
	}
	took := time.Since(began)
	_, err = fmt.Fprintf(c.stdout, "%d events of %d sessions, %.1f MB, in %.1f s, %.0f events/s\n",
		made.Events, made.Sessions, float64(made.Bytes)/1e6, took.Seconds(), float64(made.Events)/took.Seconds())
	for _, p := range j.Head().Partitions {
		_, last := fmt.Fprintf(c.stdout, "the log has %d records, head %x\n", p.Size, p.Root[:])
		err = errors.Join(err, last)
	}
	return err
}

func generateFlags(fs *flag.FlagSet, o *generate.Options) {
	fs.IntVar(&o.Events, "events", 0, "how many events to make; a few more come, since sessions are whole")
	fs.IntVar(&o.Sessions, "sessions", 0, "how many sessions to make, in the place of --events")
	fs.IntVar(&o.Pending, "pending", 0, "how many requests to leave waiting for a decision, each in a session of its own")
	fs.IntVar(&o.Unfinished, "unfinished", 0, "how many runs to leave between two rounds; agentd goes on with them at its start")
	fs.Uint64Var(&o.Seed, "seed", 0, "another number makes another log; the same flags and --until make the same bytes")
	fs.IntVar(&o.Days, "days", 28, "how many days the sessions span, in log time")
	fs.Func("until", "where log time ends, as 2026-11-30T17:00:00Z (default now)", func(s string) (err error) {
		o.Until, err = time.Parse(time.RFC3339, s)
		return err
	})
}

// maxGenerateDays keeps log time within what clocks and durations hold.
const maxGenerateDays = 3650

func checkGenerate(o generate.Options) error {
	switch {
	case o.Events < 0 || o.Sessions < 0 || o.Pending < 0 || o.Unfinished < 0:
		return fmt.Errorf("%w: agentd generate: numbers of events, sessions and runs are 0 or more", errUsage)
	case o.Days < 1 || o.Days > maxGenerateDays:
		return fmt.Errorf("%w: agentd generate: --days is %d, want 1 to %d", errUsage, o.Days, maxGenerateDays)
	case o.Events > 0 && o.Sessions > 0:
		return fmt.Errorf("%w: agentd generate: give --events or --sessions, not both", errUsage)
	case o.Events+o.Sessions+o.Pending+o.Unfinished == 0:
		return fmt.Errorf("%w: agentd generate --events N --data-dir DIR", errUsage)
	}
	return nil
}

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
	made, err := generate.Fill(c.ctx, j, count)
	if err != nil {
		return err
	}
	took := time.Since(began)
	_, err = fmt.Fprintf(c.stdout, "%d events in %.1f s, %.0f events/s\n", made, took.Seconds(), float64(made)/took.Seconds())
	return err
}

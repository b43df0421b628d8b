package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/projections"
)

// rebuild makes views.db anew from the log. Where an agentd runs on the data
// directory, it is asked to, and its pages serve the old views meanwhile; else
// it is done here, with the directory locked.
func (c command) rebuild() error {
	cfg, done, err := c.load("rebuild", nil)
	if err != nil || done {
		return err
	}
	if cfg.Bus != config.BusEmbedded {
		return fmt.Errorf("%w: agentd rebuild works on a data directory; this configuration keeps nothing in one", errUsage)
	}
	p := &progress{out: c.stdout, began: time.Now()}
	if err := rebuildAnywhere(c.ctx, cfg.DataDir, p); err != nil {
		return err
	}
	return p.end()
}

const (
	// startWithin is how long an agentd may start that has locked the directory
	// and does not listen yet.
	startWithin = time.Minute
	askAgain    = 200 * time.Millisecond
)

// rebuildAnywhere asks the agentd that runs, does it here where none runs, and
// waits for one that is starting.
func rebuildAnywhere(ctx context.Context, dir string, p *progress) error {
	for began, told := time.Now(), false; ; told = true {
		err := askForRebuild(ctx, filepath.Join(dir, socketName), p)
		if nobodyListens(err) {
			err = rebuildHere(ctx, dir, p)
		}
		if !errors.Is(err, journal.ErrLocked) || time.Since(began) > startWithin {
			return err
		}
		if !told {
			fmt.Fprintln(p.out, "another process has the data directory, and does not answer yet: waiting for it to start, or to end")
		}
		select {
		case <-time.After(askAgain):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// askForRebuild asks the running agentd, and tells what it says.
func askForRebuild(ctx context.Context, socket string, p *progress) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agentd/rebuild", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := overSocket(socket).Do(req)
	if err != nil {
		return fmt.Errorf("ask the running agentd: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // what of it there is
		return fmt.Errorf("the running agentd answered %s: %s", resp.Status, oneLine(string(body)))
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		var r api.Rebuilding
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("the running agentd answered %q: %w", oneLine(lines.Text()), err)
		}
		if p.tell(r); r.Error != "" {
			return fmt.Errorf("the running agentd could not rebuild: %s", oneLine(r.Error))
		}
		if r.Finished {
			return nil
		}
	}
	return errors.Join(errors.New("the running agentd ended before the views were rebuilt; the old ones are there"), lines.Err())
}

// rebuildHere rebuilds while no agentd runs, and lets none start meanwhile.
func rebuildHere(ctx context.Context, dir string, p *progress) (err error) {
	path := filepath.Join(dir, "journal.db")
	if err := journal.Sniff(path); err != nil { // before anything is made in the folder
		return fmt.Errorf("there is no log to rebuild from: %w; name its folder with --data-dir", err)
	}
	lock, err := journal.Lock(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	j, err := journal.Open(ctx, journal.Options{Path: path, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	log := bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "agentd/rebuild"})
	views, err := projections.Open(ctx, projections.Options{Path: filepath.Join(dir, "views.db"), Source: log, Room: j.Room})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, views.Close()) }()
	return p.watch(ctx, rebuilder{views})
}

// rebuilder is the views, for who has them rebuilt.
type rebuilder struct{ *projections.Views }

// Progress implements api.Rebuilder.
func (r rebuilder) Progress() api.Rebuilding {
	s := r.Status()
	if b := s.Rebuilding; b != nil {
		return api.Rebuilding{Done: b.Done, Total: b.Total, Indexing: b.Indexing}
	}
	return api.Rebuilding{Done: s.Records, Total: s.Head}
}

// progress tells people how far a rebuild is: every twentieth of it.
type progress struct {
	out   io.Writer
	began time.Time
	last  api.Rebuilding
	steps uint64
}

// watch rebuilds, and tells how far it is.
func (p *progress) watch(ctx context.Context, views rebuilder) error {
	ended := make(chan error, 1)
	go func() { ended <- views.Rebuild(ctx) }()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.tell(views.Progress())
		case err := <-ended:
			p.tell(views.Progress())
			return err
		}
	}
}

func (p *progress) tell(r api.Rebuilding) {
	steps := 20 * r.Done / max(r.Total, 1)
	switch {
	case r.Indexing && !p.last.Indexing:
		fmt.Fprintf(p.out, "all %d records are read; making the indexes\n", r.Done)
	case steps > p.steps && !r.Indexing && !p.last.Indexing && !r.Finished:
		fmt.Fprintf(p.out, "%d %%: %d of %d records\n", 5*steps, r.Done, r.Total)
	}
	p.steps, p.last = max(steps, p.steps), r
}

// end says what came of it.
func (p *progress) end() error {
	took := time.Since(p.began).Seconds()
	_, err := fmt.Fprintf(p.out, "rebuilt: %d records in %.1f s, %.0f events/s\n", p.last.Done, took, float64(p.last.Done)/took)
	return err
}

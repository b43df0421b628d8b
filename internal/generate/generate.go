// Package generate fills a new journal with whole sessions that look like work,
// so that start, folds, views, charts and searches can be measured, and looked
// at, on a log of any size:
//
//	made, err := generate.Fill(ctx, j, generate.Options{Events: 5_000_000, Days: 30})
//
// What it makes is a log that gates and consoles could have written over some
// weeks, in office hours more than at night. Several agents ask for built-in,
// configured and MCP tools; calls are free, denied, approved, changed, declined
// with a comment, expired, cancelled, taken back, failed and lost; some need two
// people; some decisions come late or twice, and move nothing. The policy and
// the definitions of the tools stand in it, so that each start can be judged
// again. People, texts and files in it are made up; the texts are of some
// thousands of words, code, CJK and emoji among them.
//
// The same Options, Until included, make the same bytes.
package generate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/internal/journal"
)

// Options say how much to make. The zero value makes nothing.
type Options struct {
	// Events is how many events to make, and some more: sessions are whole.
	Events int
	// Sessions is how many sessions to make instead; 0 counts events.
	Sessions int
	// Pending is how many requests wait for a decision at the end, each in a
	// session of its own, beside the sessions above.
	Pending int
	// Unfinished is how many runs are left between two rounds at the end.
	Unfinished int
	// Seed makes another log of the same kind.
	Seed uint64
	// Days is how much log time the sessions span; 0: 28.
	Days int
	// Until is where log time ends; zero: now.
	Until time.Time
}

// Made says what was made.
type Made struct {
	Events, Sessions int
	Bytes            int64 // of envelopes and payloads
}

func (o Options) withDefaults() Options {
	o.Days = cmp.Or(o.Days, 28)
	if o.Until.IsZero() {
		o.Until = time.Now()
	}
	o.Until = o.Until.UTC().Truncate(time.Millisecond)
	if o.Sessions == 0 {
		o.Sessions = -1
	}
	return o
}

// Fill appends sessions to an empty journal, as many as the options say. It
// runs the journal's writer itself.
func Fill(ctx context.Context, j *journal.Journal, o Options) (made Made, err error) {
	o = o.withDefaults()
	w, err := newWorld(o)
	if err != nil {
		return Made{}, err
	}
	writing, stop := context.WithCancel(ctx)
	var writer errgroup.Group
	writer.Go(func() error { return j.Run(writing) })
	defer func() {
		stop()
		err = errors.Join(err, writer.Wait())
	}()
	f := &filler{world: w, journal: j}
	err = f.fill(ctx)
	return f.made, err
}

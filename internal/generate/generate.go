// Package generate fills a new journal with whole sessions that look like work,
// so that start, folds and views can be measured on a log of any size:
//
//	made, err := generate.Fill(ctx, j, 5_000_000)
//
// What it makes is a log that a gate could have written: every record that
// moves a fold counts, and nothing is left open. The people and texts in it are
// made up.
package generate

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// atOnce is how many events, about, go into one commit.
const atOnce = 1000

// Fill appends sessions until the journal has grown by count events, about, and
// returns by how many it has. It runs the journal's writer itself.
func Fill(ctx context.Context, j *journal.Journal, count int) (made int, err error) {
	writing, stop := context.WithCancel(ctx)
	var writer errgroup.Group
	writer.Go(func() error { return j.Run(writing) })
	defer func() {
		stop()
		err = errors.Join(err, writer.Wait())
	}()
	for story := newStory(); made < count; {
		entries, err := story.sessions(min(atOnce, count-made))
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

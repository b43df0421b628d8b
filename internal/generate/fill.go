package generate

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/internal/journal"
)

// What goes into one commit, about.
const (
	atOnce      = 1000
	bytesAtOnce = 4 << 20
)

// jobSessions is how many sessions one worker tells at a time.
const jobSessions = 16

// filler tells sessions on all cores, puts their events in the order of log
// time, and appends them. Each of the three is a goroutine of its own.
type filler struct {
	world   *world
	journal *journal.Journal
	house   *telling // owned by order, then by sign
	made    Made     // Sessions is owned by order, the rest by append, then all by Fill
}

// told is what a worker made of some sessions.
type told struct {
	streams []*stream
	err     error
}

// errEnough stops the workers.
var errEnough = errors.New("enough was told")

func (f *filler) fill(ctx context.Context) error {
	group, making := errgroup.WithContext(ctx)
	jobs := make(chan chan told, 2*runtime.GOMAXPROCS(0)) // in order; its room bounds how many are told at once
	batches := make(chan []moment, 2)
	telling, enough := context.WithCancelCause(making)
	group.Go(func() error {
		defer close(jobs)
		return f.tell(telling, group, jobs)
	})
	group.Go(func() error {
		defer close(batches)
		defer enough(errEnough)
		return f.order(making, jobs, batches)
	})
	group.Go(func() error { return f.append(making, batches) })
	if err := group.Wait(); err != nil {
		return err
	}
	return f.sign(ctx)
}

// tell starts workers, which the group waits for, until there are enough
// sessions.
func (f *filler) tell(ctx context.Context, workers *errgroup.Group, jobs chan<- chan told) error {
	for no := 0; no < f.world.sessionsAtMost(); no += jobSessions {
		job := make(chan told, 1)
		select {
		case jobs <- job:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errEnough) {
				return nil
			}
			return context.Cause(ctx)
		}
		from, to := no, min(no+jobSessions, f.world.sessionsAtMost())
		workers.Go(func() error {
			job <- f.world.tellSome(from, to) // there is room; a failure is told in its turn
			return nil
		})
	}
	return nil
}

// order merges sessions by log time, and ends when there are enough events.
func (f *filler) order(ctx context.Context, jobs <-chan chan told, batches chan<- []moment) error {
	m := &merger{out: func(batch []moment) error { return send(ctx, batches, batch) }}
	f.house = f.world.house()
	m.add(f.house.stream)
	for job := range jobs {
		some := <-job
		if some.err != nil {
			return some.err
		}
		for _, s := range some.streams {
			f.made.Sessions++
			m.add(s)
		}
		if err := m.emit(some.streams[len(some.streams)-1].began()); err != nil {
			return err
		}
		if f.world.o.Sessions < 0 && m.count >= f.world.o.Events {
			break
		}
	}
	last, err := f.world.lastSessions()
	if err != nil {
		return err
	}
	for _, s := range last {
		f.made.Sessions++
		m.add(s)
	}
	return m.finish()
}

func send(ctx context.Context, batches chan<- []moment, batch []moment) error {
	select {
	case batches <- batch:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *filler) append(ctx context.Context, batches <-chan []moment) error {
	for batch := range batches {
		entries := make([]journal.Entry, len(batch))
		for i, m := range batch {
			entries[i] = m.Entry
			f.made.Bytes += m.size()
		}
		if _, err := f.journal.Append(ctx, journal.Ends, entries...); err != nil {
			return err
		}
		f.made.Events += len(entries)
	}
	return nil
}

// sign ends the log as a process that is asked to stop does.
func (f *filler) sign(ctx context.Context) error {
	f.house.stops(f.journal.Head())
	if f.house.err != nil {
		return f.house.err
	}
	batches := make(chan []moment, 1)
	batches <- f.house.moments
	close(batches)
	return f.append(ctx, batches)
}

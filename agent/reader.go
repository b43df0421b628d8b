package agent

import (
	"context"
	"errors"
)

// ErrFeedEnded says that everything of the run has been read.
var ErrFeedEnded = errors.New("the run has ended and everything was read")

// Reader reads what clients see of a conversation, from a place on: the rest
// of one run, and the runs that had followed it when the reader was made. It
// is for one goroutine.
type Reader struct {
	feed  *Feed
	after cursor
	reset bool // a reset goes first: what the client has of this round is not ours
	last  string
	// later are the runs that follow, and open their feeds.
	later []string
	open  func(ctx context.Context, run string) (*Feed, error)
	// left is told of a feed that this reader was the last to read.
	left func(*Feed)
}

// Close says that nothing more will be read. What is kept for readers of a run
// that waits for people is then forgotten, until somebody reads it again.
// A nil reader has nothing to give back.
func (r *Reader) Close() {
	if r == nil || r.left == nil {
		return
	}
	if r.feed.detach() {
		r.left(r.feed)
	}
	r.left = nil
}

// read returns a reader from the beginning.
func (f *Feed) read() *Reader { return &Reader{feed: f, last: f.id(cursor{})} }

// from returns a reader for a client that stands at a place. What cannot be
// matched starts with a reset.
func (f *Feed) from(p place) *Reader {
	r := f.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case p.run != f.run || f.at.lasting < p.at.lasting:
		r.reset = true
	case p.at.text > 0 && (p.made != f.made || !f.has(p.at)):
		r.after, r.reset = cursor{lasting: p.at.lasting}, true
	default:
		r.after = p.at
	}
	r.last = f.id(r.after)
	return r
}

// Empty reports whether there is nothing left to read, now or later.
func (r *Reader) Empty() bool {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	return len(r.later) == 0 && r.feed.ended && !r.reset && !r.after.before(r.feed.at)
}

// Missed says what a client had missed that reads on from its place: whether
// there are frames for it at once, and whether they begin with a reset.
func (r *Reader) Missed() (frames, reset bool) {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	return r.reset || len(r.later) > 0 || r.after.before(r.feed.at), r.reset
}

// LastID returns the id of the last frame read, or of the place where the
// reader began: what a heartbeat repeats.
func (r *Reader) LastID() string { return r.last }

// Next returns the next frame, and waits for it. ErrFeedEnded when all is
// read; else the cause of ctx, or what kept a feed from being made.
func (r *Reader) Next(ctx context.Context) (Frame, error) {
	for {
		fr, moved := r.look()
		switch {
		case fr != nil:
			r.last = fr.ID
			return *fr, nil
		case moved == nil && len(r.later) == 0:
			return Frame{}, ErrFeedEnded
		case moved == nil:
			if err := r.turn(ctx); err != nil {
				return Frame{}, err
			}
			continue
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return Frame{}, context.Cause(ctx)
		}
	}
}

// turn goes on to the next run.
func (r *Reader) turn(ctx context.Context) error {
	feed, err := r.open(ctx, r.later[0])
	if err != nil {
		return err
	}
	if r.left != nil && r.feed.detach() {
		r.left(r.feed)
	}
	r.feed, r.after, r.later = feed, cursor{}, r.later[1:]
	return nil
}

// look returns the next frame, or what to wait for; neither at the end.
func (r *Reader) look() (*Frame, <-chan struct{}) {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.after.text > 0 && !f.has(r.after) {
		r.after, r.reset = cursor{lasting: r.after.lasting}, true
	}
	if r.reset {
		r.reset = false
		return &Frame{ID: f.id(r.after), Event: Event{Type: EventReset}}, nil
	}
	i := f.index(r.after)
	if i < len(f.frames) {
		e := f.frames[i]
		r.after = e.at
		return &Frame{ID: f.id(e.at), Event: e.event()}, nil
	}
	if f.ended {
		return nil, nil
	}
	return nil, f.moved
}

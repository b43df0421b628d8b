package agent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// ErrFeedEnded: everything of the run has been read.
var ErrFeedEnded = errors.New("the run has ended and everything was read")

// maxFeedText bounds the streamed text that a feed keeps piece by piece, in
// bytes. Beyond it the pieces are joined, and a client that stands between two
// of them gets that round's text anew.
const maxFeedText = 8 << 20

// cursor is a place in a feed: after the given number of lasting frames, and
// then of text pieces.
type cursor struct{ lasting, text int }

func (c cursor) before(d cursor) bool {
	return c.lasting < d.lasting || c.lasting == d.lasting && c.text < d.text
}

// Frame is one event of a feed with its cursor.
type Frame struct {
	// ID is the opaque cursor of the protocol.
	ID    string
	Event Event

	at cursor
}

// Feed is what clients see of one run. Lasting frames are made from records,
// in log order, and are the same after a restart; text frames stand between
// them and last as long as the process.
type Feed struct {
	run  string
	boot string // names this process in ids: text places are good for it alone

	mu     sync.Mutex
	frames []Frame       // mu
	at     cursor        // of the last frame; mu
	text   int           // bytes of text frames; mu
	ended  bool          // mu
	moved  chan struct{} // closed and replaced when frames or ended changed; mu
}

func newFeed(run, boot string) *Feed {
	return &Feed{run: run, boot: boot, moved: make(chan struct{})}
}

// lasting adds a frame that a record made.
func (f *Feed) lasting(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = cursor{lasting: f.at.lasting + 1}
	f.add(e)
	f.trim()
}

// piece adds a frame of text, or a reset.
func (f *Feed) piece(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at.text++
	f.text += len(e.Data)
	f.add(e)
}

func (f *Feed) add(e Event) {
	f.frames = append(f.frames, Frame{ID: f.id(f.at), Event: e, at: f.at})
	f.wake()
}

func (f *Feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.wake()
}

func (f *Feed) wake() {
	close(f.moved)
	f.moved = make(chan struct{})
}

// trim joins the text pieces that stand before the last lasting frame, once
// there is much of them: what they say stays, the places between them go. mu
// is held.
func (f *Feed) trim() {
	if f.text <= maxFeedText {
		return
	}
	kept := f.frames[:0:0]
	for _, fr := range f.frames {
		last := len(kept) - 1
		if last >= 0 && fr.at.text > 1 && kept[last].at.text > 0 && kept[last].Event.Type == fr.Event.Type {
			fr.Event.Data = kept[last].Event.Data + fr.Event.Data
			kept[last] = fr
			continue
		}
		kept = append(kept, fr)
	}
	f.frames, f.text = kept, 0
}

func (f *Feed) id(c cursor) string {
	return fmt.Sprintf("%s/%s/%d.%d", f.run, f.boot, c.lasting, c.text)
}

// parseID reads an id of any feed.
func parseID(id string) (run, boot string, c cursor, ok bool) {
	parts := strings.Split(id, "/")
	if len(parts) != 3 {
		return "", "", cursor{}, false
	}
	lasting, text, dot := strings.Cut(parts[2], ".")
	l, err1 := strconv.Atoi(lasting)
	t, err2 := strconv.Atoi(text)
	if !dot || err1 != nil || err2 != nil || l < 0 || t < 0 {
		return "", "", cursor{}, false
	}
	return parts[0], parts[1], cursor{l, t}, true
}

// Reader reads a feed from a place on. It is for one goroutine.
type Reader struct {
	feed  *Feed
	after cursor
	reset bool // a reset goes first: what the client has of this round is not ours
	last  string
}

// from returns a reader for a client that has seen lastID, "" for one that has
// seen nothing. What cannot be matched starts with a reset.
func (f *Feed) from(lastID string) *Reader {
	r := &Reader{feed: f}
	if lastID == "" {
		return r
	}
	run, boot, c, ok := parseID(lastID)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !ok || run != f.run || f.at.lasting < c.lasting:
		r.reset = true
	case c.text > 0 && (boot != f.boot || !f.has(c)):
		r.after, r.reset = cursor{lasting: c.lasting}, true
	default:
		r.after = c
	}
	r.last = lastID
	return r
}

// has reports whether the place is one of the feed's. mu is held.
func (f *Feed) has(c cursor) bool {
	i := f.index(c)
	return i > 0 && f.frames[i-1].at == c
}

// Empty reports whether there is nothing left to read, now or later.
func (r *Reader) Empty() bool {
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	return r.feed.ended && !r.reset && !r.after.before(r.feed.at)
}

// LastID returns the id of the last frame read, for heartbeats.
func (r *Reader) LastID() string { return r.last }

// Next returns the next frame, and waits for it. ErrFeedEnded when all is
// read; else the cause of ctx.
func (r *Reader) Next(ctx context.Context) (Frame, error) {
	for {
		fr, moved, ended := r.look()
		if fr != nil {
			r.last = fr.ID
			return *fr, nil
		}
		if ended {
			return Frame{}, ErrFeedEnded
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return Frame{}, context.Cause(ctx)
		}
	}
}

func (r *Reader) look() (*Frame, <-chan struct{}, bool) {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.after.text > 0 && !f.has(r.after) {
		r.after, r.reset = cursor{lasting: r.after.lasting}, true
	}
	if r.reset {
		r.reset = false
		return &Frame{ID: f.id(r.after), Event: Event{Type: EventReset}}, nil, false
	}
	i := f.index(r.after)
	if i == len(f.frames) {
		return nil, f.moved, f.ended
	}
	fr := f.frames[i]
	r.after = fr.at
	return &fr, nil, false
}

// index returns the place of the first frame after c.
func (f *Feed) index(c cursor) int {
	low, high := 0, len(f.frames)
	for low < high {
		mid := (low + high) / 2
		if c.before(f.frames[mid].at) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

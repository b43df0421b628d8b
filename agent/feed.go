package agent

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// maxFeedText bounds the streamed text that a feed keeps piece by piece, in
// bytes. Beyond it the pieces are joined, and a client that stands between two
// of them gets that round's text anew.
const maxFeedText = 8 << 20

// pieceCost is what a piece weighs besides its text, and a lasting frame, or a
// call or result in one, besides its texts.
const pieceCost = 128

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
}

// Feed is what clients see of one run. Lasting frames are made from records,
// in log order, and are the same after a restart; pieces of text stand between
// them and last as long as the feed.
type Feed struct {
	run string
	// made names this feed in ids: places between pieces are good for it alone.
	// Another feed of the same run has the same lasting frames, but its text in
	// other pieces.
	made string
	told chan struct{} // closed when the feed has what the log held when it was made

	mu     sync.Mutex
	frames []entry // mu
	at     cursor  // of the last frame; mu
	text   int     // weight of the pieces since they were last joined; mu
	weight int     // of all frames, in bytes; mu
	ended  bool    // mu
	// readers are those that will read on; once the feed of a parked run has
	// been dropped there are none, and none come. mu
	readers int
	dropped bool
	moved   chan struct{} // closed and replaced when frames or ended changed; mu
}

// entry is a frame as a feed keeps it.
type entry struct {
	at         cursor
	kind, data string // of a piece
	lasting    *Event // nil for a piece
}

func (e entry) event() Event {
	if e.lasting != nil {
		return *e.lasting
	}
	return Event{Type: e.kind, Data: e.data}
}

// weight is about what a frame takes in memory, in bytes.
func (e entry) weight() int {
	n := pieceCost + len(e.data)
	if e.lasting == nil {
		return n
	}
	n += len(e.lasting.Data) + len(e.lasting.Arguments) + len(e.lasting.Message)
	for _, c := range e.lasting.ToolCalls {
		n += pieceCost + len(c.Arguments)
	}
	for _, r := range e.lasting.ToolResults {
		n += pieceCost + len(r.Result)
	}
	return n
}

func newFeed(run, made string) *Feed {
	return &Feed{run: run, made: made, told: make(chan struct{}), moved: make(chan struct{})}
}

// lasting adds a frame that a record made.
func (f *Feed) lasting(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = cursor{lasting: f.at.lasting + 1}
	f.add(entry{at: f.at, lasting: &e})
}

// piece adds a piece of text, or a reset.
func (f *Feed) piece(kind, data string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at.text++
	e := entry{at: f.at, kind: kind, data: data}
	f.text += e.weight()
	f.add(e)
}

// add adds a frame. mu is held.
func (f *Feed) add(e entry) {
	f.frames = append(f.frames, e)
	f.weight += e.weight()
	if f.text > maxFeedText {
		f.frames, f.text, f.weight = joined(f.frames), 0, 0
		for _, kept := range f.frames {
			f.weight += kept.weight()
		}
	}
	f.wake()
}

// size is what the feed weighs, in bytes.
func (f *Feed) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.weight
}

// attach keeps the feed for a reader that will read on; false where it was
// dropped.
func (f *Feed) attach() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dropped {
		return false
	}
	f.readers++
	return true
}

// detach gives it back, and reports whether nobody reads on.
func (f *Feed) detach() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers--
	return f.readers == 0
}

// abandon drops the feed where nobody reads on.
func (f *Feed) abandon() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropped = f.readers == 0
	return f.dropped
}

func (f *Feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.wake()
}

func (f *Feed) hasEnded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// wake tells who waits. mu is held.
func (f *Feed) wake() {
	close(f.moved)
	f.moved = make(chan struct{})
}

// joined joins the pieces that follow each other: what they say stays, the
// places between them go. What a reset took back goes as well.
func joined(frames []entry) []entry {
	var kept []entry
	for i := 0; i < len(frames); {
		e := frames[i]
		if e.kind == EventReset {
			kept = kept[:lastingOf(kept)]
		}
		var text strings.Builder
		for ; i < len(frames) && frames[i].lasting == nil && frames[i].kind == e.kind; i++ {
			text.WriteString(frames[i].data)
			e.at = frames[i].at
		}
		if e.lasting != nil {
			i++
		} else {
			e.data = text.String()
		}
		kept = append(kept, e)
	}
	return kept
}

// lastingOf returns how many frames there are up to the last that lasts: a
// reset takes back what follows it.
func lastingOf(frames []entry) int {
	n := len(frames)
	for n > 0 && frames[n-1].lasting == nil {
		n--
	}
	return n
}

func (f *Feed) id(c cursor) string {
	return fmt.Sprintf("%s/%s/%d.%d", f.run, f.made, c.lasting, c.text)
}

// place is what an id says.
type place struct {
	run, made string
	at        cursor
}

// parseID reads an id of any feed. The zero place is no feed's.
func parseID(id string) place {
	parts := strings.Split(id, "/")
	if len(parts) != 3 {
		return place{}
	}
	lasting, text, dot := strings.Cut(parts[2], ".")
	l, err1 := strconv.Atoi(lasting)
	t, err2 := strconv.Atoi(text)
	if !dot || err1 != nil || err2 != nil || l < 0 || t < 0 {
		return place{}
	}
	return place{parts[0], parts[1], cursor{l, t}}
}

// has reports whether the cursor is the place of one of the feed's frames. mu
// is held.
func (f *Feed) has(c cursor) bool {
	i := f.index(c)
	return i > 0 && f.frames[i-1].at == c
}

// index returns the place of the first frame after c. mu is held.
func (f *Feed) index(c cursor) int {
	return sort.Search(len(f.frames), func(i int) bool { return c.before(f.frames[i].at) })
}

package ui

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/projections"
)

const (
	// tailChunk is how many records are read at once.
	tailChunk = 500
	// tailBehind is how old what the views show may be, while they catch up or
	// are made anew, before the tail no longer follows each record: it then jumps
	// to where they are every tailJump, and tells every stream to begin anew.
	tailBehind = 10 * time.Second
	tailJump   = 2 * time.Second
	// tailAgain is the pause after a failure.
	tailAgain = time.Second
)

// tail is the last records of the log as frames, each encoded once, for all
// streams together: a stream keeps a number of it, and takes what comes after.
// So a slow reader holds up nobody, and costs no memory.
//
// One goroutine reads the log, as long as somebody listens; the first who joins
// starts it, and the last who leaves waits for its end.
type tail struct {
	views  *projections.Views
	window int // how many frames are kept
	clock  func() time.Time
	logger *slog.Logger

	life      sync.Mutex // around a change of the next three
	listeners int
	stop      context.CancelFunc
	ended     chan struct{}

	reading sync.Mutex // who reads the log: the goroutine, or who reaches back
	jumped  time.Time  // reading

	mu     sync.RWMutex
	frames []frame // mu; only appended to and sliced, or replaced
	base   int64   // mu; the number of frames[0]
	start  edge    // mu; before frames[0]
	end    edge    // mu; after the last frame
	waits  *waiting
	more   chan struct{} // mu; closed and replaced when something moves
	begun  bool          // mu; whether end is a place of the log
}

func newTail(v *projections.Views, window int, clock func() time.Time, logger *slog.Logger) *tail {
	return &tail{views: v, window: window, clock: clock, logger: logger, more: make(chan struct{})}
}

// join makes the tail follow the log until leave is called, once.
func (t *tail) join(ctx context.Context) (leave func(), err error) {
	t.life.Lock()
	defer t.life.Unlock()
	if t.listeners == 0 {
		if err := t.follow(ctx); err != nil {
			return nil, err
		}
		following, stop := context.WithCancel(context.WithoutCancel(ctx))
		ended := make(chan struct{})
		t.stop, t.ended = stop, ended
		go func() {
			defer close(ended)
			t.run(following)
		}()
	}
	t.listeners++
	return t.leave, nil
}

func (t *tail) leave() {
	t.life.Lock()
	defer t.life.Unlock()
	if t.listeners--; t.listeners == 0 {
		t.stop()
		<-t.ended
	}
}

// run follows the views.
func (t *tail) run(ctx context.Context) {
	for {
		_, changed := t.views.Changed()
		var again <-chan time.Time
		if err := t.follow(ctx); err != nil && ctx.Err() == nil {
			t.logger.WarnContext(ctx, "live streams stand still", "error", err.Error(), "again_in", tailAgain)
			again = time.After(tailAgain)
		}
		select {
		case <-changed:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

// follow reads up to where the views are.
func (t *tail) follow(ctx context.Context) error {
	t.reading.Lock()
	defer t.reading.Unlock()
	place, err := t.views.Place(ctx)
	if err != nil {
		return err
	}
	// While the views are made anew they are before the end: there is nothing to tell.
	if t.begun && place.Row > t.end.row && t.views.Status().Lag(t.clock()) > tailBehind {
		if time.Since(t.jumped) < tailJump {
			return nil
		}
		return t.jump(ctx, place)
	}
	for row := t.end.row; ; row = t.end.row {
		switch {
		case !t.begun, place.Row-row > int64(t.window):
			return t.jump(ctx, place)
		case place.Row <= row: // also while the views are made anew
			return nil
		}
		notices, err := t.views.Notices(ctx, row, place.Row, tailChunk)
		if err != nil {
			return err
		}
		if len(notices) == 0 { // they are of another log than the tail
			return t.jump(ctx, place)
		}
		t.append(notices)
	}
}

// jump begins anew at a place.
func (t *tail) jump(ctx context.Context, p projections.Place) error {
	all, err := t.views.Waiting(ctx)
	if err != nil {
		return err
	}
	t.jumped = time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	// Further than what will be put before the place again: where a stream stands
	// now is no number any more, so that it begins anew.
	t.base += int64(len(t.frames) + t.window + tailChunk + 1)
	t.frames, t.waits, t.begun = nil, newWaiting(all), true
	t.end = edge{cursor: cursor{at: p.At, sizes: p.Sizes}, row: p.Row}
	t.start = t.end
	t.wake()
	return nil
}

// append adds what came, and forgets what the window has no room for.
func (t *tail) append(notices []projections.Notice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	frames, end := frames(t.end, notices)
	t.frames, t.end = append(t.frames, frames...), end
	for i := range notices {
		t.waits.apply(&notices[i])
	}
	if n := len(t.frames) - t.window; n > tailChunk {
		t.start = after(t.start, t.frames[:n])
		t.frames = append([]frame(nil), t.frames[n:]...) // so that the others can go
		t.base += int64(n)
	}
	t.wake()
}

// wake is called with mu held.
func (t *tail) wake() {
	close(t.more)
	t.more = make(chan struct{})
}

// since returns the frames after a number, the number behind them, and a channel
// that is closed when there are more. lost: the tail no longer has them all.
func (t *tail) since(number int64) (found []frame, next int64, more <-chan struct{}, lost bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	next = t.base + int64(len(t.frames))
	if number < t.base || number > next {
		return nil, next, t.more, true
	}
	return t.frames[number-t.base:], next, t.more, false
}

// now is the number and the place of the end.
func (t *tail) now() (int64, cursor) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.base + int64(len(t.frames)), cursor{at: t.end.at, sizes: maps.Clone(t.end.sizes)}
}

// pending is how many requests wait that a reader may see.
func (t *tail) pending(r projections.Reader) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.waits.count(r)
}

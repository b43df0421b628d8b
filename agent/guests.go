package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// guests are goroutines that run code of the program around the loop: its
// listeners and its approval handler. The loop waits for them when it stops,
// but not for ever: code that never returns is not ours.
type guests struct {
	wait   sync.WaitGroup
	ctx    context.Context // of listeners; ends some time after the loop has stopped
	cancel context.CancelFunc
}

// guestsStay is how long guests have to end once the loop has stopped; after it
// their context ends, and they have as long again.
const guestsStay = 2 * time.Second

func newGuests() *guests {
	g := &guests{}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// admit runs f in a goroutine.
func (g *guests) admit(f func()) { g.wait.Go(f) }

// seeOff waits until all guests have gone.
func (g *guests) seeOff(logger *slog.Logger) {
	defer g.cancel()
	gone := make(chan struct{})
	go func() {
		g.wait.Wait()
		close(gone)
	}()
	for range 2 {
		select {
		case <-gone:
			return
		case <-time.After(guestsStay):
			g.cancel()
		}
	}
	logger.Error("a listener or approval handler does not return though its context has ended; it is left behind")
}

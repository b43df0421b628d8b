package projectionstest

import (
	"context"
	"sync"
)

// Held is a log whose texts can be held back, so that whoever reads records
// stands still in the middle of it: a rebuild above all.
type Held struct {
	*Log

	mu   sync.Mutex
	gate *heldGate // mu; nil: nothing is held
}

type heldGate struct {
	once       sync.Once
	come, open chan struct{}
}

// Hold holds texts back until release is called. come is closed once somebody
// waits for one.
func (h *Held) Hold() (come <-chan struct{}, release func()) {
	g := &heldGate{come: make(chan struct{}), open: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gate = g
	return g.come, sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.gate = nil
		close(g.open)
	})
}

// Payloads implements projections.Texts.
func (h *Held) Payloads(ctx context.Context, first, last int64, f func(row int64, ordinal int, commitment string, b []byte) bool) error {
	h.mu.Lock()
	g := h.gate
	h.mu.Unlock()
	if g != nil {
		g.once.Do(func() { close(g.come) })
		select {
		case <-g.open:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return h.Log.Payloads(ctx, first, last, f)
}

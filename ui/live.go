package ui

import (
	"errors"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/internal/seats"
)

// Live bounds the live streams. What is 0 is as said.
type Live struct {
	// Window is how many records back a browser can go on without loading its
	// page anew; 0 means 10,000.
	Window int
	// Slow is how long a reader may take for one write; 0 means 8 s.
	Slow time.Duration
	// Check is how often a stream asks whether its reader still may read; 0 means
	// 3 s.
	Check time.Duration
}

func (l Live) withDefaults() Live {
	if l.Window == 0 {
		l.Window = 10_000
	}
	if l.Slow == 0 {
		l.Slow = 8 * time.Second
	}
	if l.Check == 0 {
		l.Check = 3 * time.Second
	}
	return l
}

// live tells what moved, by name and never by text: the page then fetches it
// with its reader's own rights. The stream begins after Last-Event-ID, or after
// the parameter "after" (the place that the page was made at), with exactly what
// was missed; where that cannot be told, with a reset; and without a place, with
// the state.
func (c *Console) live(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r, "after"); err != nil {
		return err
	}
	leave, err := c.open(id)
	if err != nil {
		return err
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return nil
	}
	s := &stream{console: c, request: r, w: w, control: http.NewResponseController(w), reader: reader(id)}
	c.metrics.clients.WithLabelValues(instruments.StreamConsole).Inc()
	defer c.metrics.clients.WithLabelValues(instruments.StreamConsole).Dec()
	c.left(s.tell())
	return nil
}

func (c *Console) left(why string) {
	c.metrics.disconnects.WithLabelValues(instruments.StreamConsole, why).Inc()
}

// open takes a place among the streams, where there is one and the server does
// not stop.
func (c *Console) open(id auth.Identity) (leave func(), err error) {
	select {
	case <-c.stopped:
		return nil, ErrStopping
	default:
	}
	leave, err = c.streams.Take(id.Person)
	if err == nil {
		return leave, nil
	}
	c.left(instruments.LeftLimit)
	if errors.Is(err, seats.ErrYours) {
		return nil, errYourStreams
	}
	return nil, errBusy
}

package ui

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/seats"
	"github.com/countersign-dev/countersign/projections"
)

const (
	// slowAfter is how long a reader may take for one message.
	slowAfter = 10 * time.Second
	// checkEvery is how often a stream asks whether its reader still may read.
	checkEvery = 5 * time.Second
)

// live tells that there is something new, and nothing of what: the page then
// fetches it with its reader's own rights. A message that was missed costs
// nothing, since each one tells the whole state; so every connection begins with
// one, whatever Last-Event-ID it brings, unless that is the state already.
func (c *Console) live(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	leave, err := c.open(id)
	if err != nil {
		return err
	}
	defer leave()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
	s := &stream{w: w, control: http.NewResponseController(w)}
	if err := s.write("retry: 1000\n\n"); err != nil {
		return nil // the reader went away
	}
	c.tell(r, s, r.Header.Get("Last-Event-ID"))
	return nil
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
	switch {
	case errors.Is(err, seats.ErrYours):
		return nil, errYourStreams
	case err != nil:
		return nil, errBusy
	}
	return leave, nil
}

// tell sends the state whenever it moves, until the reader goes, is too slow,
// signs out, or the server stops.
func (c *Console) tell(r *http.Request, s *stream, last string) {
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	beat := time.NewTicker(c.opt.Heartbeat)
	defer beat.Stop()
	for {
		status, changed := c.views.Changed()
		if id := liveID(status); id != last {
			last = id
			if s.write(fmt.Sprintf("id: %s\ndata: {\"seq\":%d,\"pending\":%d}\n\n", id, status.Records, status.Pending)) != nil {
				return
			}
		}
		select {
		case <-changed:
		case <-beat.C:
			if s.write(": alive\n\n") != nil {
				return
			}
		case <-check.C:
			if who, err := c.opt.Auth.FromRequest(r); err != nil || !mayRead(who) {
				return
			}
		case <-r.Context().Done():
			return
		case <-c.stopped:
			return
		}
	}
}

// liveID names a state of the views, in a form that clients only hand back.
func liveID(s projections.Status) string {
	return strings.ReplaceAll(fmt.Sprintf("%d-%s-%d", s.Position.LogTime, s.Position, s.Records), ":", "-")
}

// stream writes to one reader.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// write sends a frame within slowAfter, whatever the server's own deadline is.
func (s *stream) write(frame string) error {
	// Servers in tests may have no deadlines to set.
	_ = s.control.SetWriteDeadline(time.Now().Add(slowAfter))
	if _, err := s.w.Write([]byte(frame)); err != nil {
		return err
	}
	return s.control.Flush()
}

package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/projections"
)

// stream is one reader's. The handler's goroutine owns it.
type stream struct {
	console *Console
	request *http.Request
	w       http.ResponseWriter
	control *http.ResponseController
	reader  projections.Reader
	number  int64   // of the next frame of the tail
	skip    *cursor // what lies before it was told already; nil: nothing behind number
	buffer  bytes.Buffer
}

// maxTold is how many frames go into one write.
const maxTold = 256

// tell sends what moves until the reader goes, is too slow, signs out, or the
// server stops, and says which.
func (s *stream) tell() (why string) {
	// Apart, so that not all come back in the same moment.
	fmt.Fprintf(&s.buffer, "retry: %d\n: open\n\n", 1000+rand.IntN(3000)) //nolint:gosec // no secret
	if err := s.flush(0); err != nil {
		return s.why(err)
	}
	ctx := s.request.Context()
	leave, err := s.console.tail.join(ctx)
	if err != nil {
		return s.why(err)
	}
	defer leave()
	if err := s.begin(ctx); err != nil {
		return s.why(err)
	}
	return s.follow(ctx)
}

// begin finds where the stream begins.
func (s *stream) begin(ctx context.Context) error {
	t := s.console.tail
	asked := s.request.Header.Get("Last-Event-ID")
	if asked == "" {
		asked = s.request.FormValue("after")
	}
	if asked == "" {
		return s.anew(false)
	}
	at, err := parseCursor(asked)
	known := err == nil
	if known {
		if s.number, known, err = t.find(ctx, at); err != nil {
			return err
		}
	}
	if !known {
		return s.anew(true)
	}
	if len(at.sizes) > 1 {
		s.skip = &at
	}
	result := instruments.ResumeCurrent
	if end, _ := t.now(); end > s.number {
		result = instruments.ResumeReplayed
	}
	s.console.metrics.resumes.WithLabelValues(instruments.StreamConsole, result).Inc()
	return nil
}

// anew begins at the end of the log, with the state.
func (s *stream) anew(reset bool) error {
	if reset {
		s.console.metrics.resumes.WithLabelValues(instruments.StreamConsole, instruments.ResumeReset).Inc()
	}
	number, at := s.console.tail.now()
	s.number, s.skip = number, nil
	s.buffer.Write(stateFrame(at, s.console.tail.pending(s.reader), reset))
	return s.flush(1)
}

// follow tells what comes.
func (s *stream) follow(ctx context.Context) (why string) {
	check := time.NewTicker(s.console.opt.Live.Check)
	defer check.Stop()
	beat := time.NewTicker(s.console.opt.Heartbeat)
	defer beat.Stop()
	for {
		more, err := s.catchUp()
		if err != nil {
			return s.why(err)
		}
		select {
		case <-more:
		case <-beat.C:
			s.buffer.WriteString(": alive\n\n")
			if err := s.flush(0); err != nil {
				return s.why(err)
			}
		case <-check.C:
			if !s.admitted() {
				return instruments.LeftExpired
			}
		case <-ctx.Done():
			return instruments.LeftGone
		case <-s.console.stopped:
			return instruments.LeftShutdown
		}
	}
}

// catchUp tells all that there is, and returns a channel that is closed when
// there is more.
func (s *stream) catchUp() (<-chan struct{}, error) {
	for {
		found, next, more, lost := s.console.tail.since(s.number)
		if lost { // too slow for the window, or the tail has jumped
			if err := s.anew(true); err != nil {
				return nil, err
			}
			continue
		}
		if len(found) == 0 {
			return more, nil
		}
		found = found[:min(len(found), maxTold)]
		s.number = min(s.number+int64(len(found)), next)
		if err := s.send(found); err != nil {
			return nil, err
		}
	}
}

// send writes the frames that the reader may see, in one write.
func (s *stream) send(found []frame) error {
	told, last := 0, time.Time{}
	for i := range found {
		f := &found[i]
		if !f.seenBy(s.reader) || s.skip != nil && !s.skip.before(f.at) {
			continue
		}
		pending := -1
		if f.counts {
			pending = s.console.tail.pending(s.reader)
		}
		s.buffer.Write(f.bytes)
		s.buffer.Write(end(s.buffer.AvailableBuffer(), pending))
		told, last = told+1, at(f.at)
	}
	if told == 0 {
		return nil
	}
	if err := s.flush(told); err != nil {
		return err
	}
	s.console.metrics.delivery.WithLabelValues(instruments.StreamConsole).Observe(max(0, s.console.now().Sub(last).Seconds()))
	return nil
}

// admitted reports whether the reader still may read, and takes up what they
// may see now.
func (s *stream) admitted() bool {
	who, err := s.console.opt.Auth.FromRequest(s.request)
	if err != nil || !mayRead(who) {
		return false
	}
	s.reader = reader(who)
	return true
}

// flush hands the buffer, so many messages, to the connection within Live.Slow,
// whatever the server's own deadline is.
func (s *stream) flush(messages int) error {
	defer s.buffer.Reset()
	// Servers in tests may have no deadlines to set.
	_ = s.control.SetWriteDeadline(time.Now().Add(s.console.opt.Live.Slow))
	if _, err := s.w.Write(s.buffer.Bytes()); err != nil {
		return err
	}
	if err := s.control.Flush(); err != nil {
		return err
	}
	s.console.metrics.sent.WithLabelValues(instruments.StreamConsole).Add(float64(messages))
	return nil
}

// why names the end of a stream by its error.
func (s *stream) why(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return instruments.LeftSlow
	case s.request.Context().Err() != nil:
		return instruments.LeftGone
	}
	s.console.logger.DebugContext(s.request.Context(), "a live stream broke", "error", err.Error())
	return instruments.LeftError
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/internal/seats"
)

// errQuiet: a stream has had nothing to say for the heartbeat interval.
var errQuiet = errors.New("nothing to say")

// enter takes a place among the open streams, and gives it back.
func (a *API) enter(who auth.Identity) (leave func(), err error) {
	if a.life.Err() != nil {
		return nil, context.Cause(a.life)
	}
	leave, err = a.streams.Take(who.Person)
	if err != nil {
		a.metrics.left(instruments.LeftLimit)
	}
	switch {
	case errors.Is(err, seats.ErrYours):
		return nil, refuse(http.StatusTooManyRequests, "too_many_streams",
			"you have %d streams open, which is the bound for one: close some, or try again", a.streams.Each())
	case err != nil:
		return nil, refuse(http.StatusServiceUnavailable, "too_many_streams",
			"%d streams are open, which is the bound: close some, or try again", a.opt.MaxStreams)
	}
	return leave, nil
}

// stream tells a run to a client until the run or the client has ended, or
// agentd stops. That is all a stream is: nothing depends on it.
func (a *API) stream(w http.ResponseWriter, r *http.Request, conversation string, from *agent.Reader) {
	defer from.Close()
	ctx, end := context.WithCancelCause(r.Context())
	defer end(nil)
	defer context.AfterFunc(a.life, func() { end(context.Cause(a.life)) })()
	out := &sse{w: w, control: http.NewResponseController(w), within: a.opt.WriteWithin}
	defer out.close()
	left := a.metrics.opened()
	err := out.open(conversation)
	for err == nil {
		err = a.tell(ctx, out, from)
	}
	left(a.why(r.Context(), err))
	if a.life.Err() != nil { // the last word is where to go on, also where nothing was told yet
		err = errors.Join(err, out.send(from.LastID(), agent.Event{Type: agent.EventHeartbeat}))
	}
	a.logger.DebugContext(ctx, "a stream has ended", "conversation", conversation, "after", from.LastID(), "because", err)
}

// tell sends the next frame, or a heartbeat where there is none for a while.
func (a *API) tell(ctx context.Context, out *sse, from *agent.Reader) error {
	waiting, done := context.WithTimeoutCause(ctx, a.opt.HeartbeatInterval, errQuiet)
	defer done()
	frame, err := from.Next(waiting)
	beat := agent.Event{Type: agent.EventHeartbeat}
	switch {
	case errors.Is(err, errQuiet):
		return out.send(from.LastID(), beat)
	case err != nil:
		return err
	}
	err = out.send(frame.ID, frame.Event)
	if err == nil {
		a.metrics.sent()
	}
	if err != nil || frame.Event.Type != agent.EventApproval {
		return err
	}
	return out.send(frame.ID, beat)
}

// sse writes server-sent events (HTML Living Standard, section 9.2).
type sse struct {
	w       http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

// open sends the head, so that clients and proxies know what comes.
func (s *sse) open(conversation string) error {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform") // no proxy keeps or compresses it
	h.Set("X-Accel-Buffering", "no")                 // nor holds it back
	h.Set("Conversation-Id", conversation)
	s.hurry()
	s.w.WriteHeader(http.StatusOK)
	return s.control.Flush()
}

// send writes one event and flushes it. JSON has no line breaks but escaped
// ones, so the event is one data line whatever is in it.
func (s *sse) send(id string, e agent.Event) error {
	if strings.ContainsAny(id, "\r\n\x00") {
		return fmt.Errorf("%q is no id of an event", id)
	}
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	s.hurry()
	if _, err := fmt.Fprintf(s.w, "id: %s\ndata: %s\n\n", id, data); err != nil { //nolint:gosec // JSON in an event stream
		return err
	}
	return s.control.Flush()
}

// hurry bounds the time of the next write: a client that stops reading is cut
// off, and can resume. What cannot have deadlines goes without.
func (s *sse) hurry() { _ = s.control.SetWriteDeadline(time.Now().Add(s.within)) }

// close takes the deadline off the connection, which may serve more requests.
func (s *sse) close() { _ = s.control.SetWriteDeadline(time.Time{}) }

package cases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/agent"
)

// stream is a client of one conversation, which resumes where it was cut.
type stream struct {
	conversation string
	status       int
	header       http.Header

	cut    context.CancelFunc
	ended  chan struct{} // closed when nothing more comes
	mu     sync.Mutex
	seen   []agent.Event // mu
	ids    []string      // mu
	raw    []byte        // mu; all bytes so far, of all connections
	moved  chan struct{} // closed and replaced when seen grew; mu
	lastID string        // of the reader
	taken  int           // events that steps have awaited; the steps' alone
}

// openStream posts a question. A refusal is a stream that has ended.
func (p *play) openStream(ctx context.Context, body []byte) (*stream, error) {
	ctx, cut := context.WithCancel(ctx)
	s := &stream{cut: cut, ended: make(chan struct{}), moved: make(chan struct{})}
	req, err := p.node.request(ctx, http.MethodPost, "/chat/stream", agentToken, body)
	if err != nil {
		cut()
		return nil, err
	}
	res, err := p.node.client.Do(req)
	if err != nil {
		cut()
		return nil, fmt.Errorf("open a stream: %w", err)
	}
	s.status, s.header = res.StatusCode, res.Header
	s.conversation = res.Header.Get("Conversation-Id")
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // as much as came will do
		s.raw = b
		cut()
		close(s.ended)
		return s, res.Body.Close()
	}
	p.streaming.Go(func() { p.follow(ctx, s, res) })
	return s, nil
}

// follow reads a stream to the end of its run, over cuts and restarts.
func (p *play) follow(ctx context.Context, s *stream, res *http.Response) {
	defer close(s.ended)
	defer s.cut()
	for {
		over := s.readAll(res)
		if over || ctx.Err() != nil {
			return
		}
		var err error
		if res, err = p.resume(ctx, s); err != nil {
			return
		}
		if res.StatusCode != http.StatusOK {
			_ = res.Body.Close() // nothing more comes
			return
		}
	}
}

// resume waits until the node serves, and asks for the rest.
func (p *play) resume(ctx context.Context, s *stream) (*http.Response, error) {
	for {
		up := p.up()
		select {
		case <-up:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		req, err := p.node.request(ctx, http.MethodGet, "/chat/stream/"+url.PathEscape(s.conversation), agentToken, nil)
		if err != nil {
			return nil, err
		}
		if s.lastID != "" {
			req.Header.Set("Last-Event-ID", s.lastID)
		}
		res, err := p.node.client.Do(req)
		if err == nil {
			return res, nil
		}
		if !waited(ctx.Done(), again) {
			return nil, context.Cause(ctx)
		}
	}
}

// readAll reads one connection to its end, and reports whether the run's last
// event came.
func (s *stream) readAll(res *http.Response) (over bool) {
	defer res.Body.Close()
	r := newSSEReader(res.Body)
	for {
		e, err := r.next()
		s.mu.Lock()
		if err != nil {
			s.raw = append(s.raw, r.raw.Bytes()...)
		}
		s.mu.Unlock()
		if err != nil {
			return over || !errors.Is(err, io.EOF) && errors.Is(err, context.Canceled)
		}
		s.lastID = e.id
		if s.add(e) {
			over = true
		}
	}
}

// add notes an event, and reports whether it is the last of its run.
func (s *stream) add(e sseEvent) bool {
	var event agent.Event
	if err := json.Unmarshal([]byte(e.data), &event); err != nil || e.kind != "" {
		event = agent.Event{Type: "unreadable", Data: e.kind + ": " + e.data}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.ids = append(s.seen, event), append(s.ids, e.id)
	close(s.moved)
	s.moved = make(chan struct{})
	return last(event)
}

// last reports whether nothing follows an event but the error of a failed run.
func last(e agent.Event) bool {
	return e.Type == agent.EventError || e.Type == agent.EventFinish && e.Reason != "TOOL_CALLS" && e.Reason != "ERROR"
}

// events returns what was seen so far.
func (s *stream) events() []agent.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]agent.Event{}, s.seen...)
}

// await returns the first event, among those after the last that was awaited,
// that fits.
func (s *stream) await(ctx context.Context, fits func(agent.Event) bool) (agent.Event, error) {
	for i := s.taken; ; {
		s.mu.Lock()
		seen, moved := s.seen, s.moved
		s.mu.Unlock()
		for ; i < len(seen); i++ {
			if fits(seen[i]) {
				s.taken = i + 1
				return seen[i], nil
			}
		}
		select {
		case <-moved:
		case <-s.ended:
			if len(s.events()) == i {
				return agent.Event{}, fmt.Errorf("the stream (status %d) ended without the event", s.status)
			}
		case <-ctx.Done():
			return agent.Event{}, context.Cause(ctx)
		}
	}
}

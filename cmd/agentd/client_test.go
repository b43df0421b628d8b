package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// client talks to an agentd with a token.
type client struct {
	base, token string
}

func (p *process) as(token string) client { return client{p.base, token} }

// heard is an event of a chat stream, as clients see it.
type heard struct {
	Type        string `json:"type"`
	Data        string `json:"data"`
	Reason      string `json:"reason"`
	RequestID   string `json:"requestId"`
	ToolCallID  string `json:"toolCallId"`
	ToolName    string `json:"toolName"`
	Arguments   string `json:"arguments"`
	ToolResults []struct {
		ID, Name, Result, Status, Cause string
	} `json:"toolResults"`
	Code, Message string
}

// over reports whether nothing comes after the event.
func (e heard) over() bool {
	return e.Type == "finish" && e.Reason != "TOOL_CALLS" && e.Reason != "ERROR" || e.Type == "error"
}

// send sends a request and leaves the body to be read.
func (c client) send(ctx context.Context, method, path string, body any, header ...string) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	return http.DefaultClient.Do(req)
}

// stream is an open chat stream.
type stream struct {
	body         io.Closer
	lines        *bufio.Scanner
	conversation string
	last         string // the id of the last event
}

// statusError is an answer that is no stream.
type statusError struct {
	status int
	body   string
}

func (e statusError) Error() string { return fmt.Sprintf("%d: %s", e.status, e.body) }

// open opens a chat stream by POST or GET.
func (c client) open(ctx context.Context, method, path string, body any, header ...string) (*stream, error) {
	resp, err := c.send(ctx, method, path, body, header...)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		return nil, statusError{resp.StatusCode, string(b)}
	}
	s := &stream{body: resp.Body, lines: bufio.NewScanner(resp.Body), conversation: resp.Header.Get("Conversation-Id")}
	s.lines.Buffer(nil, 1<<20)
	return s, nil
}

// chat begins a run. Conversation "" begins a new conversation.
func (c client) chat(ctx context.Context, conversation, query string) (*stream, error) {
	body := map[string]string{"query": query}
	if conversation != "" {
		body["conversationId"] = conversation
	}
	return c.open(ctx, http.MethodPost, "/chat/stream", body)
}

// next returns the next event but heartbeats; io.EOF where the stream ends.
func (s *stream) next() (heard, error) {
	for s.lines.Scan() {
		line := s.lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			s.last = id
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e heard
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return e, err
		}
		if e.Type != "heartbeat" {
			return e, nil
		}
	}
	if err := s.lines.Err(); err != nil {
		return heard{}, err
	}
	return heard{}, io.EOF
}

// until reads up to an event of a type.
func (s *stream) until(t *testing.T, kind string) heard {
	t.Helper()
	for {
		e, err := s.next()
		require.NoError(t, err, "waiting for %s", kind)
		if e.Type == kind {
			return e
		}
	}
}

// rest reads to the end, when the end of the run is in the log, and returns the
// last event.
func (s *stream) rest(t *testing.T) (last heard) {
	t.Helper()
	defer s.body.Close()
	for {
		e, err := s.next()
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			require.True(t, last.over(), "the stream ended after %+v", last)
			return last
		}
		last = e
	}
}

// ruled is the answer to a decision.
type ruled struct {
	Accepted bool
	Reason   string
}

// rule posts a decision. An error means that there was no answer.
func (c client) rule(ctx context.Context, body map[string]string, header ...string) (int, ruled, error) {
	resp, err := c.send(ctx, http.MethodPost, "/chat/approval", body, header...)
	if err != nil {
		return 0, ruled{}, err
	}
	defer resp.Body.Close()
	var said ruled
	b, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(b, &said)
	}
	return resp.StatusCode, said, err
}

// approve approves a request, which must be accepted.
func (c client) approve(t *testing.T, request string) {
	t.Helper()
	status, said, err := c.rule(t.Context(), map[string]string{"requestId": request, "decision": "approve"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.True(t, said.Accepted, said.Reason)
}

// begin begins a run and returns its stream; both end with the test.
func (c client) begin(t *testing.T, query string) *stream {
	t.Helper()
	s, err := c.chat(t.Context(), "", query)
	require.NoError(t, err)
	t.Cleanup(func() { s.body.Close() })
	return s
}

// resume reads a conversation's last run from its beginning.
func (c client) resume(t *testing.T, conversation string) *stream {
	t.Helper()
	s, err := c.open(t.Context(), http.MethodGet, "/chat/stream/"+conversation, nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.body.Close() })
	return s
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	waitFor(t, what, 20*time.Second, 20*time.Millisecond, holds)
}

// waitFor asks again and again whether something holds, in the goroutine of the
// test, so that asking may end the test.
func waitFor(t *testing.T, what string, atMost, every time.Duration, holds func() bool) {
	t.Helper()
	late := time.After(atMost)
	for !holds() {
		select {
		case <-time.After(every):
		case <-late:
			require.FailNow(t, "it did not come to be", "%s, within %v", what, atMost)
		}
	}
}

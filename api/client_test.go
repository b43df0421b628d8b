package api_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// event is what a client gets, after parsing.
type event struct {
	ID    string `json:"-"`
	Bytes string `json:"-"` // the data as it came

	Type            string        `json:"type"`
	Data            string        `json:"data"`
	ToolCalls       []callMember  `json:"toolCalls"`
	Reason          string        `json:"reason"`
	Usage           *usageMember  `json:"usage"`
	RequestID       string        `json:"requestId"`
	ToolCallID      string        `json:"toolCallId"`
	ToolName        string        `json:"toolName"`
	Arguments       string        `json:"arguments"`
	ArgumentsDigest string        `json:"argumentsDigest"`
	Rule            string        `json:"rule"`
	ExpiresAt       string        `json:"expiresAt"`
	ToolResults     []resultEntry `json:"toolResults"`
	Code            string        `json:"code"`
	Message         string        `json:"message"`
}

type callMember struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Source    string `json:"source"`
}

type usageMember struct {
	Prompt     int64 `json:"promptTokens"`
	Completion int64 `json:"completionTokens"`
	Total      int64 `json:"totalTokens"`
}

type resultEntry struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Result string `json:"result"`
	Status string `json:"status"`
	Cause  string `json:"cause"`
}

// stream is an open stream, read as the HTML Living Standard says.
type stream struct {
	t     *testing.T
	res   *http.Response
	lines *bufio.Scanner
	leave context.CancelFunc
}

// open sends a request whose answer must be a stream.
func (h *house) open(r *http.Request) *stream {
	h.t.Helper()
	ctx, leave := context.WithTimeout(r.Context(), patience)
	res, err := http.DefaultClient.Do(r.WithContext(ctx))
	require.NoError(h.t, err)
	h.t.Cleanup(func() { leave(); res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		b, err := io.ReadAll(res.Body)
		require.Equal(h.t, http.StatusOK, res.StatusCode, "%s %v", b, err)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	lines.Split(anyLineBreak)
	return &stream{h.t, res, lines, leave}
}

// ask begins a run of Carla's.
func (h *house) ask(body string) *stream {
	h.t.Helper()
	return h.open(h.request(carla, http.MethodPost, "/chat/stream", body))
}

func (h *house) resume(conversation, lastID string) *stream {
	h.t.Helper()
	return h.open(h.get(conversation, lastID))
}

// get is Carla's request to resume.
func (h *house) get(conversation, lastID string) *http.Request {
	h.t.Helper()
	r := h.request(carla, http.MethodGet, "/chat/stream/"+conversation, "")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	return r
}

// anyLineBreak splits at CRLF, LF and CR, as event streams do.
func anyLineBreak(b []byte, end bool) (int, []byte, error) {
	i := strings.IndexAny(string(b), "\r\n")
	switch {
	case i < 0 && end && len(b) > 0:
		return len(b), b, nil
	case i < 0, i == len(b)-1 && b[i] == '\r' && !end:
		return 0, nil, nil
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return i + 2, b[:i], nil
	default:
		return i + 1, b[:i], nil
	}
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next() (e event, ok bool) {
	s.t.Helper()
	fields := map[string]int{}
	for s.lines.Scan() {
		line := s.lines.Text()
		if line == "" {
			require.Equal(s.t, map[string]int{"id": 1, "data": 1}, fields, "an event is one id line and one data line")
			require.NoError(s.t, json.Unmarshal([]byte(e.Bytes), &e), e.Bytes)
			return e, true
		}
		name, value, _ := strings.Cut(line, ":")
		fields[name]++
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			require.Zero(s.t, fields["data"], "the id comes first")
			e.ID = value
		case "data":
			e.Bytes = value
		}
	}
	require.Empty(s.t, fields, "the stream ends within an event")
	return event{}, false
}

// until reads up to the first event of a type, and returns it last.
func (s *stream) until(kind string) []event {
	s.t.Helper()
	var all []event
	for {
		e, ok := s.next()
		require.True(s.t, ok, "the stream ended before %s; it said %v", kind, types(all))
		all = append(all, e)
		if e.Type == kind {
			return all
		}
	}
}

// rest reads to the end of the stream.
func (s *stream) rest() []event {
	s.t.Helper()
	var all []event
	for {
		e, ok := s.next()
		if !ok {
			require.NoError(s.t, s.lines.Err())
			return all
		}
		all = append(all, e)
	}
}

func (s *stream) conversation() string { return s.res.Header.Get("Conversation-Id") }

// types are the types of events, with the reasons and statuses.
func types(all []event) []string {
	var out []string
	for _, e := range all {
		switch e.Type {
		case "finish":
			out = append(out, "finish "+e.Reason)
		case "tool_result":
			out = append(out, "tool_result "+e.ToolResults[0].ID+" "+e.ToolResults[0].Status)
		case "approval_request":
			out = append(out, "approval_request "+e.ToolCallID)
		default:
			out = append(out, e.Type)
		}
	}
	return out
}

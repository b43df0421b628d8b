package api_test

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/fold"
)

// Case 049: losing the connection cancels nothing; and resuming has neither
// gap nor repeat.
func TestALostConnectionCancelsNothing(t *testing.T) {
	h := newHouse(t, options{script: twoCalls})
	s := h.ask(`{"query":"go"}`)
	shown := s.until("approval_request")
	s.leave()
	request := shown[len(shown)-1]
	require.True(t, h.decide(alice, request.RequestID, "approve").Accepted)

	rest := h.resume(s.conversation(), request.ID).rest()
	require.ElementsMatch(t, []string{"tool_result call-1 ok", "tool_result call-2 ok", "token", "finish STOP"}, types(rest))
	whole := h.resume(s.conversation(), "").rest()
	require.Equal(t, append(ids(shown), ids(rest)...), ids(withoutBeats(whole)))
	require.Len(t, h.tools.runs(), 2)

	a := h.do(h.get(s.conversation(), rest[len(rest)-1].ID))
	require.Equal(t, []any{http.StatusNoContent, ""}, []any{a.status, a.body})
	// case 104: an unknown id leads to all of it, not to an error or silence
	again := h.resume(s.conversation(), "5 data: forged").rest()
	require.Equal(t, "reset", again[0].Type)
	require.Equal(t, ids(withoutBeats(whole)), ids(withoutBeats(again[1:])))
}

func ids(all []event) []string {
	var out []string
	for _, e := range all {
		out = append(out, e.ID)
	}
	return out
}

func TestConversationsAreTheirOwners(t *testing.T) {
	h := newHouse(t, options{script: "conversations: [{turns: [{text: Hi.}]}]"})
	h.ask(`{"query":"go","conversationId":"mine/it's %2F"}`).rest()
	path := "/chat/stream/mine%2Fit%27s%20%252F"
	require.Equal(t, http.StatusOK, h.do(h.request(carla, http.MethodGet, path, "")).status)
	for _, r := range []*http.Request{
		h.request(mallory, http.MethodGet, path, ""),
		h.request(mallory, http.MethodDelete, path, ""),
		h.request(mallory, http.MethodPost, "/chat/stream", `{"query":"go","conversationId":"mine/it's %2F"}`),
		h.request(carla, http.MethodGet, "/chat/stream/none", ""),
		h.request(carla, http.MethodDelete, "/chat/stream/none", ""),
	} {
		a := h.do(r)
		require.Equal(t, http.StatusNotFound, a.status, "%s %s", r.Method, r.URL)
		require.Equal(t, "unknown_conversation", a.code(t))
	}
	a := h.do(h.request(carla, http.MethodDelete, path, ""))
	require.Equal(t, []any{http.StatusOK, "{\"cancelled\":false}\n"}, []any{a.status, a.body})
}

// Case 037: the user stops the run while a call is pending, then speaks again.
func TestCancelling(t *testing.T) {
	h := newHouse(t, options{script: twoCalls})
	s := h.ask(`{"query":"go"}`)
	shown := s.until("approval_request")
	a := h.do(h.request(carla, http.MethodDelete, "/chat/stream/"+s.conversation(), ""))
	require.Equal(t, []any{http.StatusOK, "{\"cancelled\":true}\n"}, []any{a.status, a.body})
	require.Subset(t, types(s.rest()), []string{"tool_result call-2 cancelled", "finish CANCELLED"})
	v := h.decide(alice, shown[len(shown)-1].RequestID, "approve")
	require.False(t, v.Accepted)
	require.Contains(t, v.Reason, "cancelled")
	next := h.ask(`{"query":"and now?","conversationId":"` + s.conversation() + `"}`).rest()
	require.Equal(t, "finish STOP", types(next)[len(next)-1])
	require.Equal(t, []string{`Read {"path":"a"}`}, h.tools.runs())
}

func TestANewQueryWhileARunIsUnfinished(t *testing.T) {
	h := newHouse(t, options{script: twoCalls})
	s := h.ask(`{"query":"go","conversationId":"c"}`)
	shown := s.until("approval_request")
	request := shown[len(shown)-1]

	a := h.do(h.request(carla, http.MethodPost, "/chat/stream", `{"query":"rather this","conversationId":"c"}`))
	require.Equal(t, http.StatusConflict, a.status)
	require.Equal(t, "conversation_busy", a.code(t))
	require.Contains(t, a.body, `"pending":[{"requestId":"`+request.RequestID+`","toolCallId":"call-2","toolName":"Write"}]`)

	next := h.ask(`{"query":"rather this","conversationId":"c","onPending":"decline"}`)
	require.Subset(t, types(s.rest()), []string{"tool_result call-2 cancelled", "finish CANCELLED"})
	all := next.rest()
	require.Equal(t, "finish STOP", types(all)[len(all)-1])
	v := h.decide(alice, request.RequestID, "approve")
	require.False(t, v.Accepted)
	require.Contains(t, v.Reason, "a new query took its place")
}

// A client that does not read is cut off after a while; its run goes on, and it
// can resume.
func TestAClientThatDoesNotRead(t *testing.T) {
	h := newHouse(t, options{script: twoCalls, change: func(o *api.Options) { o.WriteWithin, o.MaxStreams = 100*time.Millisecond, 1 }})
	conn := h.pipe()
	_, err := io.WriteString(conn, "POST /chat/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer carla\r\nContent-Type: application/json\r\n"+
		"Content-Length: 35\r\n\r\n"+`{"query":"go","conversationId":"c"}`)
	require.NoError(t, err)
	head := make([]byte, 15)
	_, err = io.ReadFull(conn, head)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 200 OK", string(head))
	// Nothing more is read: the one place for a stream is free again soon.
	var request string
	require.Eventually(t, func() bool {
		res, err := http.DefaultClient.Do(h.get("c", ""))
		require.NoError(t, err)
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, patience, 5*time.Millisecond)
	require.Eventually(t, func() bool {
		pending := h.requests("c")
		if len(pending) == 1 {
			request = pending[0]
		}
		return request != ""
	}, patience, time.Millisecond)
	require.True(t, h.decide(alice, request, "approve").Accepted)
	require.Eventually(t, func() bool { return len(h.tools.runs()) == 2 }, patience, time.Millisecond)
}

// requests are the open requests of a conversation.
func (h *house) requests(conversation string) []string {
	h.t.Helper()
	var open []string
	require.NoError(h.t, h.gate.View(h.t.Context(), conversation, func(s *fold.Session) {
		for id, q := range s.Requests {
			if q.State == fold.Pending {
				open = append(open, id)
			}
		}
	}))
	return open
}

// pipe is a connection to the API without any buffer: what one side does not
// read, the other cannot write.
func (h *house) pipe() net.Conn {
	h.t.Helper()
	ours, theirs := net.Pipe()
	l := &oneConn{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.conn <- theirs
	s := &http.Server{Handler: h.api.Handler()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Serve(l)
	}()
	h.t.Cleanup(func() {
		s.Close()
		ours.Close()
		<-done
	})
	return ours
}

// oneConn is a listener with one connection.
type oneConn struct {
	conn   chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *oneConn) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *oneConn) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

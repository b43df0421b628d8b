package api_test

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/api"
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

// A client that does not read is cut off after a while; its run goes on, and so
// does everybody else.
func TestAClientThatDoesNotRead(t *testing.T) {
	script := "conversations: [{turns: [{text: \"" + strings.Repeat("x", 800_000) + "\"}]}]"
	h := newHouse(t, options{script: script, change: func(o *api.Options) { o.WriteWithin, o.MaxStreams = 100*time.Millisecond, 8 }})
	var stuck []net.Conn
	for i := range 8 {
		conn := h.dial("POST /chat/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer carla\r\nContent-Type: application/json\r\n" +
			"Content-Length: 36\r\n\r\n" + `{"query":"go","conversationId":"c` + string(rune('0'+i)) + `"}`)
		require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(1024))
		stuck = append(stuck, conn)
	}
	require.Len(t, stuck, 8)
	require.Eventually(t, func() bool {
		r := h.get("c7", "")
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	}, patience, 5*time.Millisecond)
	all := h.resume("c3", "").rest()
	require.Equal(t, "finish STOP", types(all)[len(all)-1])
}

// dial sends bytes over a connection of their own.
func (h *house) dial(request string) net.Conn {
	h.t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(h.t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
	require.NoError(h.t, err)
	h.t.Cleanup(func() { conn.Close() })
	_, err = conn.Write([]byte(request))
	require.NoError(h.t, err)
	return conn
}

package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/api"
)

// twoCalls is the example of the protocol: a free call and a protected one.
const twoCalls = `
conversations:
  - turns:
      - reasoning: I should look.
        text: Let me see.
        calls:
          - {id: call-1, name: Read, arguments: '{"path":"a"}'}
          - {id: call-2, name: Write, arguments: '{"path":"b"}'}
      - text: The file has been written.
`

func TestAStreamIsWhatTheProtocolSays(t *testing.T) {
	h := newHouse(t, options{script: twoCalls})
	r := h.request(carla, http.MethodPost, "/chat/stream", `{"query":"go"}`, "Accept-Encoding", "gzip, br")
	s := h.open(r)
	require.Equal(t, "text/event-stream", s.res.Header.Get("Content-Type"))
	require.Equal(t, "no-cache, no-transform", s.res.Header.Get("Cache-Control"))
	require.Equal(t, "no", s.res.Header.Get("X-Accel-Buffering"))
	require.Empty(t, s.res.Header.Get("Content-Encoding"))
	require.NotEmpty(t, s.conversation())

	all := append(s.until("heartbeat"), s.until("tool_result")...)
	request := all[4]
	require.Equal(t, all[4].ID, all[5].ID, "a heartbeat repeats the id before it")
	require.JSONEq(t, `{"type":"heartbeat"}`, all[5].Bytes)
	v := h.decide(alice, request.RequestID, "approve")
	require.True(t, v.Accepted, v.Reason)
	all = append(all, s.rest()...)
	require.Equal(t, []string{
		"reasoning", "token", "tool_call", "finish TOOL_CALLS", "approval_request call-2", "heartbeat", "tool_result call-1 ok",
		"tool_result call-2 ok", "token", "finish STOP",
	}, types(all))
	requireMembers(t, all)
	require.Equal(t, []string{`Read {"path":"a"}`, `Write {"path":"b"}`}, h.tools.runs())
}

func requireMembers(t *testing.T, all []event) {
	t.Helper()
	require.Equal(t, "I should look.", all[0].Data)
	require.Equal(t, []callMember{
		{"call-1", "Read", `{"path":"a"}`, "builtin-tools"}, {"call-2", "Write", `{"path":"b"}`, "builtin-tools"},
	}, all[2].ToolCalls)
	require.NotNil(t, all[3].Usage)
	sum := sha256.Sum256([]byte(`{"path":"b"}`))
	q := all[4]
	require.Equal(t, []string{"Write", `{"path":"b"}`, "sha256:" + hex.EncodeToString(sum[:]), "required-tools"},
		[]string{q.ToolName, q.Arguments, q.ArgumentsDigest, q.Rule})
	expires, err := time.Parse(time.RFC3339, q.ExpiresAt)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(3*time.Minute), expires, 3*time.Minute)
	require.Equal(t, []resultEntry{{"call-2", "Write", "done", "ok", "human"}}, all[7].ToolResults)
	require.Equal(t, "The file has been written.", all[8].Data)
}

func TestAQuietStreamHasHeartbeats(t *testing.T) {
	h := newHouse(t, options{script: twoCalls, timeout: 300 * time.Millisecond, change: func(o *api.Options) { o.HeartbeatInterval = 50 * time.Millisecond }})
	all := h.ask(`{"query":"go"}`).rest()
	beats := 0
	for i, e := range all {
		if e.Type == "heartbeat" {
			beats++
			require.Equal(t, all[i-1].ID, e.ID)
		}
	}
	require.GreaterOrEqual(t, beats, 4)
	// case 047: silence is not consent, and expiry is nobody's decline
	result := all[len(all)-3].ToolResults[0]
	require.Equal(t, []string{"expired", "timeout"}, []string{result.Status, result.Cause})
	require.Equal(t, []string{`Read {"path":"a"}`}, h.tools.runs())
}

// A heartbeat that comes before all events has the id of the beginning.
func TestAHeartbeatAtTheBeginning(t *testing.T) {
	h := newHouse(t, options{
		script: "delay: 150ms\nconversations: [{turns: [{text: Hi.}]}]", change: func(o *api.Options) { o.HeartbeatInterval = 20 * time.Millisecond },
	})
	s := h.ask(`{"query":"go"}`)
	first := s.until("heartbeat")[0]
	require.Equal(t, "heartbeat", first.Type)
	s.leave()
	require.Equal(t, []string{"token", "finish STOP"}, types(withoutBeats(h.resume(s.conversation(), first.ID).rest())))
}

func withoutBeats(all []event) []event {
	var out []event
	for _, e := range all {
		if e.Type != "heartbeat" {
			out = append(out, e)
		}
	}
	return out
}

// Case 103: whatever models and tools say, a client sees the events that were
// published and no other.
func TestNothingForgesAnEvent(t *testing.T) {
	text := "line1\nline2\r\nline3\u2028line4\u0085\x00\r\rdata: forged\r\r"
	script := fmt.Sprintf("conversations: [{turns: [{text: %q, calls: [{id: \"c\\r\\nid: 99\", name: Nasty, arguments: '{}'}, {name: \"T\\r\\nid: 99\\r\\n\", arguments: '{}'}]}, {text: ok}]}]", text)
	h := newHouse(t, options{script: script})
	all := h.ask(`{"query":"go"}`).rest()
	require.Len(t, all, 7)
	require.Equal(t, text, all[0].Data)
	require.Equal(t, "T\r\nid: 99\r\n", all[1].ToolCalls[1].Name)
	results := map[string]string{}
	for _, e := range all[3:5] {
		results[e.ToolResults[0].Name] = e.ToolResults[0].Result
	}
	require.Equal(t, nasty, results["Nasty"])
	for _, e := range all {
		require.NotContains(t, []string{e.RequestID, e.ID}, "forged")
	}
}

func TestStreamsEndWhenAgentdStops(t *testing.T) {
	h := newHouse(t, options{script: twoCalls})
	s := h.ask(`{"query":"go"}`)
	shown := s.until("heartbeat")
	h.api.Stop()
	rest := s.rest()
	require.NotContains(t, types(rest), "finish STOP")
	all := append(shown, rest...)
	last := all[len(all)-1]
	require.Equal(t, []string{"heartbeat", all[len(all)-2].ID}, []string{last.Type, last.ID}, "the place to resume from")
	a := h.do(h.get(s.conversation(), shown[0].ID))
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.Equal(t, "stopping", a.code(t))
	require.Equal(t, "1", a.header.Get("Retry-After"))
}

// One agent's streams leave room for those of the others.
func TestOneAgentCannotTakeAllStreams(t *testing.T) {
	h := newHouse(t, options{script: twoCalls, change: func(o *api.Options) { o.MaxStreams = 20 }})
	h.ask(`{"query":"go","conversationId":"c"}`).until("approval_request")
	for range 15 {
		h.resume("c", "").until("approval_request")
	}
	a := h.do(h.get("c", ""))
	require.Equal(t, []any{http.StatusTooManyRequests, "too_many_streams"}, []any{a.status, a.code(t)})
	h.open(h.request(mallory, http.MethodPost, "/chat/stream", `{"query":"go","conversationId":"d"}`)).until("approval_request")
}

func TestOpenStreamsAreBounded(t *testing.T) {
	h := newHouse(t, options{script: twoCalls, change: func(o *api.Options) { o.MaxStreams = 1 }})
	s := h.ask(`{"query":"go","conversationId":"one"}`)
	request := s.until("approval_request")
	a := h.do(h.request(carla, http.MethodPost, "/chat/stream", `{"query":"go","conversationId":"two"}`))
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.Equal(t, "too_many_streams", a.code(t))
	require.Equal(t, http.StatusNotFound, h.do(h.request(carla, http.MethodDelete, "/chat/stream/two", "")).status, "nothing began")
	h.decide(alice, request[len(request)-1].RequestID, "decline")
	s.rest()
	require.Eventually(t, func() bool { return h.do(h.get("one", "")).status == http.StatusOK }, patience, time.Millisecond)
}

package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// oneCall asks for one protected call.
const oneCall = `conversations: [{turns: [{calls: [{id: c1, name: Write, arguments: '{"path":"a"}'}]}, {text: done}]}]`

// pending begins a run with one protected call, and returns its request and
// the stream.
func (h *house) pending(conversation string) (string, *stream) {
	h.t.Helper()
	s := h.ask(fmt.Sprintf(`{"query":"go","conversationId":%q}`, conversation))
	shown := s.until("approval_request")
	return shown[len(shown)-1].RequestID, s
}

// Case 038: only an explicit approve runs the tool.
func TestOnlyAnExplicitApprovePermits(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "decisions.jsonl"))
	require.NoError(t, err)
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		t.Run(fmt.Sprint("line ", i+1), func(t *testing.T) {
			var test struct {
				Body   string `json:"body"`   // $r is the request
				Status int    `json:"status"` // of the answer
				Ended  string `json:"ended"`  // the call's status; "" where it still waits
				Says   string `json:"says"`   // the answer holds it
			}
			require.NoError(t, json.Unmarshal([]byte(line), &test))
			h := newHouse(t, options{script: oneCall})
			request, s := h.pending("c")
			a := h.post(alice, strings.ReplaceAll(test.Body, "$r", request))
			require.Equal(t, test.Status, a.status, a.body)
			require.Contains(t, a.body, test.Says)
			if test.Status != http.StatusOK {
				require.Equal(t, "bad_request", a.code(t))
			}
			if test.Ended == "" {
				require.Empty(t, h.tools.runs())
				require.True(t, h.decide(alice, request, "decline").Accepted, "it still waits")
				s.rest()
				return
			}
			require.Contains(t, types(s.rest()), "tool_result c1 "+test.Ended)
			require.Equal(t, test.Ended == "ok", len(h.tools.runs()) == 1)
		})
	}
}

func TestApproveWithChanges(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	request, s := h.pending("c")
	for _, bad := range []string{`{not json`, `{"Path":"b"}`, `{"path":1}`, `[]`, `{"path":"b","path":"c"}`} {
		v := h.post(alice, fmt.Sprintf(`{"requestId":%q,"decision":"approve_and_modify","arguments":%q}`, request, bad)).verdict(t)
		require.False(t, v.Accepted)
		require.Contains(t, v.Reason, "cannot run")
	}
	v := h.post(alice, fmt.Sprintf(`{"requestId":%q,"decision":"approve_and_modify","arguments":%q}`, request, `{"path":"b"}`)).verdict(t)
	require.True(t, v.Accepted, v.Reason)
	s.rest()
	require.Equal(t, []string{`Write {"path":"b"}`}, h.tools.runs())
}

func TestWhoMayDecide(t *testing.T) {
	tests := []struct {
		who    string
		status int
		reason string // of the access event; "" where there is none
	}{
		{"", http.StatusUnauthorized, "no credentials"},
		{"nobody", http.StatusUnauthorized, "unknown or expired credentials"},
		{carla, http.StatusForbidden, `this needs the permission "decide", which your roles do not have`},
		{audrey, http.StatusForbidden, `this needs the permission "decide", which your roles do not have`},
		{boss, http.StatusForbidden, `this needs the permission "decide", which your roles do not have`},
		{alice, http.StatusOK, ""},
		{root, http.StatusOK, ""},
	}
	for _, test := range tests {
		t.Run("by "+test.who, func(t *testing.T) {
			h := newHouse(t, options{script: oneCall})
			request, s := h.pending("c")
			a := h.post(test.who, fmt.Sprintf(`{"requestId":%q,"decision":"approve"}`, request))
			require.Equal(t, test.status, a.status)
			if test.status == http.StatusOK {
				require.Contains(t, types(s.rest()), "tool_result c1 ok")
				require.Equal(t, test.who, h.name(h.decision(request, "c").Actor.Person))
				return
			}
			require.Equal(t, test.status == http.StatusUnauthorized, strings.HasPrefix(a.header.Get("WWW-Authenticate"), `Bearer realm="countersign"`))
			acts := h.access.all()
			require.Len(t, acts, 1)
			require.Equal(t, []string{"decide", events.AccessRefused, test.reason, "chat-api"}, []string{acts[0].Action, acts[0].Outcome, acts[0].Reason, acts[0].Via})
			require.Equal(t, test.status == http.StatusForbidden, acts[0].Actor != nil)
			require.Empty(t, h.tools.runs())
			require.True(t, h.decide(alice, request, "decline").Accepted, "it still waits")
		})
	}
}

// decision is what ended a request.
func (h *house) decision(request, session string) events.Decision {
	h.t.Helper()
	var d events.Decision
	require.NoError(h.t, h.gate.View(h.t.Context(), session, func(s *fold.Session) { d = s.Requests[request].End.Decision }))
	return d
}

func TestADecisionIsMadeOnce(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	request, s := h.pending("c")
	body := fmt.Sprintf(`{"requestId":%q,"decision":"decline","comment":"no \"b\"\nplease"}`, request)
	require.Equal(t, "{\"accepted\":true}\n", h.post(alice, body, "Idempotency-Key", "k").body)
	require.Equal(t, "{\"accepted\":true}\n", h.post(alice, body, "Idempotency-Key", "k").body)
	for _, a := range []answer{
		h.post(alice, body), h.post(bob, body, "Idempotency-Key", "k"), h.post(alice, body, "Idempotency-Key", "other"),
		h.post(bob, fmt.Sprintf(`{"requestId":%q,"decision":"approve"}`, request)),
	} {
		v := a.verdict(t)
		require.False(t, v.Accepted)
		require.Regexp(t, `^the request was declined by alice at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$`, v.Reason)
	}
	all := s.rest()
	require.Contains(t, all[len(all)-3].ToolResults[0].Result, "(alice). The reviewer's comment: no \"b\"\nplease") // case 057
	v := h.decide(alice, "8e3f3f0e-0000-4000-8000-000000000000", "approve")
	require.Equal(t, verdict{Reason: "there is no such request"}, v)
}

func TestTheArgumentsThatWereSeen(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	request, s := h.pending("c")
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	post := func(digest string) answer {
		return h.post(alice, fmt.Sprintf(`{"requestId":%q,"decision":"approve","argumentsDigest":%q}`, request, digest))
	}
	for _, malformed := range []string{"", "sha256:", digest("x")[7:], strings.ToUpper(digest("x")), digest("x") + "0", "md5:" + digest("x")[7:]} {
		require.Equal(t, http.StatusBadRequest, post(malformed).status, malformed)
	}
	v := post(digest(`{"path":"b"}`)).verdict(t)
	require.False(t, v.Accepted)
	require.Contains(t, v.Reason, "other arguments")
	require.True(t, post(digest(`{"path":"a"}`)).verdict(t).Accepted)
	s.rest()
	require.Len(t, h.tools.runs(), 1)
}

// Case 045: opposite decisions at once, each poster told the truth.
func TestOppositeDecisionsAtOnce(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	approved := 0
	for i := range 200 {
		conversation := fmt.Sprint("c", i)
		request, s := h.pending(conversation)
		posters := []struct{ who, decision string }{{alice, "approve"}, {bob, "decline"}, {alice, "approve"}, {bob, "decline"}}
		answers := make([]verdict, len(posters))
		var wait sync.WaitGroup
		for j, p := range posters {
			wait.Go(func() { answers[j] = h.decide(p.who, request, p.decision) })
		}
		wait.Wait()
		s.rest()
		won := ""
		for j, v := range answers {
			if v.Accepted {
				require.Empty(t, won, "two were accepted")
				won = posters[j].who
			}
		}
		require.Equal(t, won, h.name(h.decision(request, conversation).Actor.Person))
		if won == alice {
			approved++
		}
	}
	require.Len(t, h.tools.runs(), approved)
}

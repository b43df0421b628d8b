package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
)

func TestWhatIsNotServed(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	tests := []struct {
		who, method, path, body string
		headers                 []string
		status                  int
		code                    string // "" where the answer is not ours
	}{
		{carla, "GET", "/chat", "", nil, 404, "no_such_route"},
		{carla, "POST", "/chat", "{}", nil, 404, "no_such_route"},
		{carla, "GET", "/chat/", "", nil, 404, "no_such_route"},
		{carla, "GET", "/chat/stream/a/b", "", nil, 404, "no_such_route"},
		{"", "GET", "/", "", nil, 404, "no_such_route"},
		{carla, "GET", "/chat/stream", "", nil, 405, "wrong_method"},
		{carla, "PUT", "/chat/stream/c", "", nil, 405, "wrong_method"},
		{alice, "GET", "/chat/approval", "", nil, 405, "wrong_method"},
		{"", "POST", "/chat/stream", `{"query":"x"}`, nil, 401, "no_credentials"},
		{"nobody", "POST", "/chat/stream", `{"query":"x"}`, nil, 401, "bad_credentials"},
		{alice, "POST", "/chat/stream", `{"query":"x"}`, nil, 403, "forbidden"},
		{alice, "GET", "/chat/stream/c", "", nil, 403, "forbidden"},
		{audrey, "DELETE", "/chat/stream/c", "", nil, 403, "forbidden"},
		{carla, "GET", "/chat/stream/%0a", "", nil, 400, "bad_request"},
		{carla, "GET", "/chat/stream/%2e%2e", "", nil, 400, "bad_request"},
		{carla, "GET", "/chat/stream/%ff", "", nil, 400, "bad_request"},
		{carla, "GET", "/chat/stream/" + strings.Repeat("a", 257), "", nil, 400, "bad_request"},
		{carla, "POST", "/chat/stream", `{"query":"x"}`, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		{carla, "POST", "/chat/stream", `{"query":"x"}`, []string{"Content-Type", "application/json; charset=latin1"}, 415, "unsupported_media_type"},
		{carla, "POST", "/chat/stream", `{"query":"x"}`, []string{"Content-Type", "application/json; x=y"}, 415, "unsupported_media_type"},
		{carla, "POST", "/chat/stream", `{"query":"x"}`, []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type"},
		{alice, "POST", "/chat/approval", `requestId=x`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"},
		{alice, "POST", "/chat/approval", "{}" + strings.Repeat(" ", 1<<20), nil, 413, "too_large"},
		{alice, "POST", "/chat/approval", `{"requestId":"x","decision":"no"}`, []string{"Idempotency-Key", strings.Repeat("k", 257)}, 400, "bad_request"},
		{alice, "POST", "/chat/approval", `{"requestId":"x","decision":"no","comment":"` + strings.Repeat("k", 65<<10) + `"}`, nil, 400, "bad_request"},
		{alice, "POST", "/chat/approval", `{"requestId":"x","decision":"approve"}`, []string{"Origin", "https://evil.example"}, 403, ""},
		{alice, "POST", "/chat/approval", `{"requestId":"x","decision":"approve"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, ""},
		{"", "GET", "/schemas/decision/2", "", nil, 404, "no_such_schema"},
		{"", "GET", "/schemas/decision/01", "", nil, 404, "no_such_schema"},
		{"", "GET", "/schemas/..%2fdecision/1", "", nil, 404, "no_such_schema"},
		{"", "GET", "/schemas/nothing/1", "", nil, 404, "no_such_schema"},
	}
	for _, test := range tests {
		t.Run(test.who+" "+test.method+" "+clip(test.path), func(t *testing.T) {
			a := h.do(h.request(test.who, test.method, test.path, test.body, test.headers...))
			require.Equal(t, test.status, a.status, a.body)
			if test.code != "" {
				require.Equal(t, test.code, a.code(t))
				require.Equal(t, "application/json", a.header.Get("Content-Type"))
				require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
			}
			require.Equal(t, test.status == 405, a.header.Get("Allow") != "")
		})
	}
	require.Empty(t, h.tools.runs())
}

func clip(s string) string { return s[:min(len(s), 40)] }

func TestQueriesThatAreRefused(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	tests := []struct {
		who, body string
		status    int
		code      string
		says      string
	}{
		{carla, `{}`, 400, "bad_request", "query"},
		{carla, `{"query":" \n"}`, 400, "bad_request", "query"},
		{carla, `{"query":"` + strings.Repeat("x", 513<<10) + `"}`, 400, "bad_request", "query"},
		{carla, `{"query":"x","system":"` + strings.Repeat("x", 257<<10) + `"}`, 400, "bad_request", "system"},
		{carla, `{"query":"x","modelName":"other"}`, 400, "unknown_model", "other"},
		{carla, `{"query":"x","conversationId":""}`, 400, "bad_request", "leave it out"},
		{carla, `{"query":"x","conversationId":"a\nb"}`, 400, "bad_request", "control"},
		{carla, `{"query":"x","conversationId":" a"}`, 400, "bad_request", "header"},
		{carla, `{"query":"x","conversationId":"` + strings.Repeat("ä", 129) + `"}`, 400, "bad_request", "258 bytes"},
		{carla, `{"query":"x","onPending":"approve"}`, 400, "bad_request", "onPending"},
		{carla, `{"query":"x","principal":"root"}`, 400, "bad_request", "principal"},
		{carla, `{"query":"x","bypassApproval":"true"}`, 400, "bad_request", "bypassApproval"},
		{carla, `{"query":"x","bypassApproval":true}`, 403, "forbidden", "bypass"},
		{carla, `{"query":"x","bypassApproval":true,"bypassReason":"I may"}`, 403, "forbidden", "bypass"},
		{boss, `{"query":"x","bypassApproval":true}`, 400, "bad_request", "bypassReason"},
		{boss, `{"query":"x","bypassApproval":true,"bypassReason":"I may"}`, 403, "forbidden", "not in this version"},
	}
	for _, test := range tests {
		t.Run(clip(test.body), func(t *testing.T) {
			before := len(h.access.all())
			a := h.do(h.request(test.who, http.MethodPost, "/chat/stream", test.body))
			require.Equal(t, test.status, a.status, a.body)
			require.Equal(t, test.code, a.code(t))
			require.Contains(t, a.body, test.says)
			require.Len(t, h.access.all()[before:], map[int]int{403: 1}[test.status], "a refusal is on the record")
		})
	}
	require.Empty(t, h.gate.Unfinished(), "nothing began")
}

func TestFrontEndsElsewhere(t *testing.T) {
	const front = "https://chat.example.org"
	h := newHouse(t, options{script: oneCall, change: func(o *api.Options) { o.AllowedOrigins = []string{front} }})
	a := h.do(h.request("", http.MethodOptions, "/chat/stream", "", "Origin", front, "Access-Control-Request-Method", "POST"))
	require.Equal(t, []any{http.StatusNoContent, front}, []any{a.status, a.header.Get("Access-Control-Allow-Origin")})
	s := h.open(h.request(carla, http.MethodPost, "/chat/stream", `{"query":"go"}`, "Origin", front, "Sec-Fetch-Site", "cross-site"))
	require.Equal(t, front, s.res.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "Conversation-Id", s.res.Header.Get("Access-Control-Expose-Headers"))
	a = h.do(h.request("", http.MethodGet, "/schemas/decision/1", "", "Origin", front))
	require.Equal(t, http.StatusForbidden, a.status, "only /chat is open to them")

	r := h.request(carla, http.MethodPost, "/chat/stream", `{"query":"go"}`)
	r.Host = "rebound.example"
	require.Equal(t, http.StatusMisdirectedRequest, h.do(r).status)
	_, err := api.New(api.Options{})
	require.Error(t, err)
}

func TestWhatEverybodyMayRead(t *testing.T) {
	var parts []api.Part
	h := newHouse(t, options{script: oneCall, change: func(o *api.Options) { o.Parts = func() []api.Part { return parts } }})
	get := func(path string) answer { return h.do(h.request("", http.MethodGet, path, "")) }
	want, err := events.Schema(events.TypeDecision, 1)
	require.NoError(t, err)
	a := get("/schemas/decision/1")
	require.Equal(t, []any{200, string(want), "application/schema+json"}, []any{a.status, a.body, a.header.Get("Content-Type")})
	require.Equal(t, 200, get("/schemas/envelope/1").status)
	require.Equal(t, 404, get("/schemas/envelope/9").status)
	require.JSONEq(t, `{"status":"ok"}`, get("/healthz").body)
	require.JSONEq(t, `{"status":"ready"}`, get("/readyz").body)
	for _, c := range []struct {
		part   api.Part
		status int
		body   string
	}{
		{
			api.Part{Name: "log", OK: true, Needed: true},
			200,
			`{"status":"ready","parts":[{"name":"log","ok":true,"needed":true}]}`,
		},
		{
			api.Part{Name: "log", Needed: true, Reason: "it has stopped"},
			503,
			`{"error":{"code":"not_ready","message":"log: it has stopped"},"parts":[{"name":"log","ok":false,"needed":true,"reason":"it has stopped"}]}`,
		},
		{
			api.Part{Name: "views", Reason: "they are being built anew"},
			200,
			`{"status":"ready","parts":[{"name":"views","ok":false,"needed":false,"reason":"they are being built anew"}]}`,
		},
	} {
		parts = []api.Part{c.part}
		a := get("/readyz")
		require.Equal(t, c.status, a.status, a.body)
		require.JSONEq(t, c.body, a.body)
		require.Equal(t, 200, get("/healthz").status)
	}
	parts = nil
	h.api.Stop()
	require.Equal(t, 503, get("/readyz").status)
}

// Whoever reaches the port can try without credentials: not all of it is
// written down, but none of it is forgotten.
func TestManyStrangers(t *testing.T) {
	var now atomic.Int64 // seconds
	h := newHouse(t, options{script: oneCall, change: func(o *api.Options) {
		o.Clock = func() time.Time { return time.Unix(now.Load(), 0) }
	}})
	for range 50 {
		h.post("", `{}`)
	}
	require.Len(t, h.access.all(), 20)
	now.Add(1)
	h.post("nobody", `{}`)
	h.post("nobody", `{}`)
	acts := h.access.all()
	require.Len(t, acts, 21)
	require.Equal(t, "no credentials", acts[19].Reason)
	require.Equal(t, "unknown or expired credentials (and 30 more refused attempts before it)", acts[20].Reason)
}

// So it is with people who may not: each has a measure of their own.
func TestManyRefusalsOfOnePerson(t *testing.T) {
	var now atomic.Int64 // seconds
	h := newHouse(t, options{script: oneCall, change: func(o *api.Options) {
		o.Clock = func() time.Time { return time.Unix(now.Load(), 0) }
	}})
	for range 50 {
		require.Equal(t, http.StatusForbidden, h.post(carla, `{}`).status)
	}
	require.Len(t, h.access.all(), 20)
	h.post(mallory, `{}`)
	require.Len(t, h.access.all(), 21, "another's refusal is not lost among them")
	now.Add(1)
	a := h.do(h.request(carla, http.MethodPost, "/chat/stream", `{"query":"x","bypassApproval":true}`))
	require.Equal(t, http.StatusForbidden, a.status)
	last := h.access.all()[21]
	require.Equal(t, "bypass", last.Action)
	require.Contains(t, last.Reason, "(and 30 more refused attempts before it)")
}

// An authentication database that cannot be asked lets nobody in.
func TestAuthenticationThatFails(t *testing.T) {
	h := newHouse(t, options{script: oneCall, change: func(o *api.Options) { o.Auth = failingAuth{} }})
	a := h.post(alice, `{"requestId":"x","decision":"approve"}`)
	require.Equal(t, []any{503, "failed"}, []any{a.status, a.code(t)})
	require.NotContains(t, a.body, "disk")
}

type failingAuth struct{}

func (failingAuth) FromRequest(*http.Request) (auth.Identity, error) {
	return auth.Identity{}, errors.New("disk I/O error")
}

// A session of the console decides as a token does, from the console's own
// pages alone.
func TestASessionDecides(t *testing.T) {
	h := newHouse(t, options{script: oneCall})
	request, s := h.pending("c")
	cookie, _, err := h.people.SignInWithToken(context.Background(), alice)
	require.NoError(t, err)
	r := h.request("", http.MethodPost, "/chat/approval", `{"requestId":"`+request+`","decision":"approve"}`)
	c := auth.Site{}.Cookie(r, cookie)
	r.AddCookie(&http.Cookie{Name: auth.Site{}.CookieName(r), Value: c.Value})
	r.Header.Set("Origin", "http://127.0.0.1:1")
	require.Equal(t, http.StatusForbidden, h.do(r.Clone(t.Context())).status)
	r.Header.Set("Origin", h.url)
	require.True(t, h.do(again(r, request)).verdict(t).Accepted)
	s.rest()
	require.Equal(t, alice, h.name(h.decision(request, "c").Actor.Person))
	require.Equal(t, auth.MethodSession, h.decision(request, "c").Actor.Method)
}

// again is a request with a fresh body.
func again(r *http.Request, request string) *http.Request {
	r = r.Clone(r.Context())
	body, err := r.GetBody()
	if err == nil {
		r.Body = body
	}
	return r
}

package main_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// Nobody decides without being somebody who may, whatever the way in. After all
// attempts the request still waits, and the log has no decision.
func TestNoDecisionWithoutAuthority(t *testing.T) {
	h := newHome(t)
	p := h.start()
	s := p.as(agentToken).begin(t, plan{{count("Count", "kept")}}.query())
	request := s.until(t, "approval_request").RequestID
	body := map[string]string{"requestId": request, "decision": "approve"}
	for _, c := range []struct {
		name, token string
		header      []string
		status      int
	}{
		{"no token", "", nil, http.StatusUnauthorized},
		{"an unknown token", strangerToken, nil, http.StatusUnauthorized},
		{"an agent's token", agentToken, nil, http.StatusForbidden},
		{"an auditor's token", auditorToken, nil, http.StatusForbidden},
		{"an unknown cookie", "", []string{"Cookie", "countersign=x"}, http.StatusUnauthorized},
		{"a text body", aliceToken, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		{"a form", aliceToken, []string{"Content-Type", "application/x-www-form-urlencoded"}, http.StatusUnsupportedMediaType},
		{"another site's page", aliceToken, []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"a page of another port", aliceToken, []string{"Origin", "http://127.0.0.1:1"}, http.StatusForbidden},
		{"a sandboxed page", aliceToken, []string{"Origin", "null"}, http.StatusForbidden},
		{"a cross-site fetch", aliceToken, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"a rebound name", aliceToken, []string{"Host", "evil.example"}, http.StatusMisdirectedRequest},
		{"a rebound name and its origin", aliceToken, []string{"Host", "evil.example", "Origin", "http://evil.example"}, http.StatusMisdirectedRequest},
	} {
		resp, err := p.as(c.token).send(t.Context(), http.MethodPost, "/chat/approval", body, c.header...)
		require.NoError(t, err, c.name)
		resp.Body.Close()
		require.Equal(t, c.status, resp.StatusCode, c.name)
		if c.header == nil || c.token == "" {
			continue
		}
		resp, err = p.as(agentToken).send(t.Context(), http.MethodPost, "/chat/stream", map[string]string{"query": "hello"}, c.header...)
		require.NoError(t, err, c.name)
		resp.Body.Close()
		require.Equal(t, c.status, resp.StatusCode, "a chat by %s", c.name)
	}
	status, _ := newPerson(t, p.base).post("/requests/"+request+"/decide", url.Values{"verdict": {"approve"}, "digest": {"x"}, "key": {"k"}})
	require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, status, "the console's form without a session")
	require.Empty(t, h.executions())
	p.as(aliceToken).approve(t, request)
	require.Equal(t, "STOP", s.rest(t).Reason)
	p.stop()

	l := readLog(t, h.path("data", "journal.db"))
	require.Len(t, all[*events.Decision](l), 1)
	refusals := 0
	for _, a := range all[*events.Access](l) {
		if a.Outcome == events.AccessRefused {
			refusals++
		}
	}
	require.Positive(t, refusals, "auditors see the attempts")
	require.Len(t, all[*events.RunStarted](l), 1)
}

// Without configured tokens, the one on disk chats and cannot decide, and the
// link signs a person in once; agentd sign-in prints the next.
func TestTokenAndLinks(t *testing.T) {
	h := newHome(t)
	h.write("agentd.yaml", "addr: 127.0.0.1:0\nmodels: [{name: stub, provider: openai, base-url: "+h.model.url()+", model: stub}]\n", 0o600)
	p := h.start()
	info, err := os.Stat(h.path("data", "token"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	token, err := os.ReadFile(h.path("data", "token"))
	require.NoError(t, err)
	machine := p.as(strings.TrimSpace(string(token)))
	s := machine.begin(t, plan{{{"Write", `{"path":"a.txt","content":"a"}`}}}.query())
	request := s.until(t, "approval_request").RequestID
	status, _, err := machine.rule(t.Context(), map[string]string{"requestId": request, "decision": "approve"})
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, status)
	tried := newPerson(t, p.base)
	status, _ = tried.post("/sign-in", url.Values{"token": {machine.token}, "next": {""}})
	require.Equal(t, http.StatusForbidden, status, "it does not sign in either")

	who := p.signIn()
	eventually(t, "the request can be decided by the person", func() bool {
		return strings.Contains(who.page("/requests/"+request), "Approve exactly this")
	})
	late := newPerson(t, p.base)
	status, _ = late.redeem(p.link)
	require.Equal(t, http.StatusUnauthorized, status, "a link signs in once")

	another := agentd(t, h.dir, nil, "sign-in", "--config", "agentd.yaml")
	require.Zero(t, another.code, another.stderr)
	require.Contains(t, another.out, p.console()+"/sign-in?link=")
	status, _ = late.redeem(strings.TrimSpace(another.out))
	require.Equal(t, http.StatusOK, status)
	status, _ = late.get("/inbox")
	require.Equal(t, http.StatusOK, status)
	p.stop()
	none := agentd(t, h.dir, nil, "sign-in", "--config", "agentd.yaml")
	require.Equal(t, failed, none.code)
	require.Contains(t, none.stderr, "no agentd runs on ")
}

package main_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// judging writes a configuration with a policy.
func (h *home) judging(hitl, more string) {
	h.t.Helper()
	h.write("agentd.yaml", "addr: 127.0.0.1:0\nmodels: [{name: stub, provider: openai, base-url: "+h.model.url()+", model: stub}]\nchat: {hitl: "+hitl+"}\n"+more, 0o600)
}

// holds is the digest of the policy that judges.
func (h *home) holds() string {
	h.t.Helper()
	ran := agentd(h.t, h.dir, nil, "policy", "status", "--data-dir", "data")
	require.Zero(h.t, ran.code, ran.stderr)
	return regexp.MustCompile(`holds now: ([0-9a-f]{64})`).FindStringSubmatch(ran.out)[1]
}

// The policy of the file is read again while agentd runs: what tightens holds at
// once, what loosens once an administrator says so in the console, and what does
// not load changes nothing.
func TestThePolicyIsReloaded(t *testing.T) {
	h := newHome(t)
	h.judging("{required-tools: [Bash]}", "")
	p := h.start()
	reload := func() ran { // the file may be broken, so the folder is named
		t.Helper()
		return agentd(t, h.dir, nil, "policy", "reload", "--data-dir", "data")
	}
	first := h.holds()
	same := reload()
	require.Zero(t, same.code, same.stderr)
	require.Contains(t, same.out, "The policy is the same.")

	h.judging("{required-tools: [Bash, Write], timeout: 1m}", "chat.system: x\n")
	broken := reload()
	require.Equal(t, failed, broken.code)
	require.Contains(t, broken.stderr, "the old one holds")
	require.Contains(t, broken.stderr, "agentd.yaml:4")
	require.Equal(t, first, h.holds())

	h.judging("{required-tools: [Bash, Write], timeout: 1m}", "log: {format: json}\n")
	tight := reload()
	require.Zero(t, tight.code, tight.stderr)
	require.Contains(t, tight.out, "tightens  Write: allow → ask")
	require.Contains(t, tight.out, "tightens  timeout: 3m → 1m")
	require.Contains(t, tight.out, "they need a restart: log.format")
	second := h.holds()
	require.NotEqual(t, first, second)

	h.judging("{required-tools: [Write], timeout: 1m}", "")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP))
	eventually(t, "the change waits", func() bool {
		return strings.Contains(agentd(t, h.dir, nil, "policy", "status", "--data-dir", "data").out, "loosens   Bash: ask → allow")
	})
	require.Equal(t, second, h.holds(), "the old one holds")
	who := p.signIn()
	page := who.page("/system/policy")
	require.Contains(t, page, "Bash: ask → allow")
	held := regexp.MustCompile(`name="held" value="([0-9a-f]{64})"`).FindStringSubmatch(page)[1]
	status, _ := newPerson(t, p.base).post("/system/policy/confirm", url.Values{"instead": {second}, "held": {held}, "confirm": {"yes"}})
	require.Equal(t, http.StatusUnauthorized, status)
	status, _ = who.post("/system/policy/confirm", url.Values{"instead": {first}, "held": {held}, "confirm": {"yes"}})
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, second, h.holds())
	status, page = who.post("/system/policy/confirm", url.Values{"instead": {second}, "held": {held}, "confirm": {"yes"}})
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "The change was confirmed")
	require.Equal(t, held, h.holds())
	_, metrics := who.get("/metrics")
	for outcome, n := range map[string]string{"unchanged": "1", "applied": "1", "held": "1", "failed": "1", "confirmed": "1"} {
		require.Contains(t, metrics, `countersign_policy_reloads_total{outcome="`+outcome+`"} `+n+"\n")
	}
	code, _ := p.stop()
	require.Zero(t, code)

	h.judging("{allowed-tools: ['*'], required-tools: []}", "")
	p = h.start()
	page = p.signIn().page("/system")
	require.Contains(t, page, "The policy was loosened at the last start.")
	p.stop()
	l := readLog(t, h.path("data", "journal.db"))
	var changes []string
	for _, a := range all[*events.Access](l) {
		if a.Action == "policy-change" {
			changes = append(changes, a.Outcome+" "+a.Via)
		}
	}
	require.Equal(t, []string{"refused control", "ok control", "refused signal", "ok console"}, changes)
	var policies int
	for _, d := range all[*events.Definition](l) {
		if d.Kind == events.DefinePolicy {
			policies++
		}
	}
	require.Equal(t, 4, policies)
}

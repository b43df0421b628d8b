package ui_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui"
)

// stubPolicies is a policy file: what stands, and what it was asked.
type stubPolicies struct {
	standing ui.PolicyStanding
	asked    []string
	fail     error
}

// Standing implements ui.Policies.
func (p *stubPolicies) Standing() ui.PolicyStanding { return p.standing }

// Reload implements ui.Policies.
func (p *stubPolicies) Reload(_ context.Context, by *events.Actor) ui.PolicyReload {
	p.asked = append(p.asked, "reload")
	p.standing.Last = &ui.PolicyReload{At: time.Unix(1764590400, 0), Via: "console", By: by, Outcome: "failed", Error: "agentd.yaml:3: \u202enot\x00 yaml", Restart: []string{"models", "tools.custom"}}
	return *p.standing.Last
}

// Confirm implements ui.Policies.
func (p *stubPolicies) Confirm(_ context.Context, instead, held events.Digest, by *events.Actor) error {
	p.asked = append(p.asked, "confirm "+string(instead)+" "+string(held)+" "+by.Roles[0])
	return p.fail
}

const (
	policyNow   = `{"allowed_tools":[],"denied_tools":["Rm"],"format":"countersign/policy/1","required_tools":["Bash","Write"],"start_within":"5m0s","timeout":"3m0s"}`
	policyLoose = `{"allowed_tools":[],"denied_tools":["Rm"],"format":"countersign/policy/1","required_tools":["Write"],"start_within":"5m0s","timeout":"3m0s"}`
)

func holding() *stubPolicies {
	return &stubPolicies{standing: ui.PolicyStanding{
		File: "/etc/agentd.yaml", Digest: "d-now", Text: []byte(policyNow),
		Held:  &ui.HeldPolicy{Digest: "d-held", Text: []byte(policyLoose), Since: time.Unix(1764590400, 0), Changes: []ui.PolicyChange{{Words: "Bash: ask → allow", Loosens: true}, {Words: "timeout: 1h → 3m"}}},
		Start: ui.PolicyAtStart{Before: "d-old", Changes: []ui.PolicyChange{{Words: "Read: ask → allow", Loosens: true}}},
	}}
}

// A change that waits is shown in words and as a difference; administrators alone
// may let it hold, and only the one that they were shown.
func TestAPolicyThatWaits(t *testing.T) {
	p := holding()
	w := newWorld(t, func(o *ui.Options) { o.Policies = p })
	ben, ada := w.as("ben"), w.as("ada")
	a := ben.get("/system/policy")
	require.Equal(t, http.StatusOK, a.status)
	requireClean(t, a)
	require.Contains(t, a.text(".held .changes"), "LoosensBash: ask → allow Tightenstimeout: 1h → 3m")
	require.Contains(t, a.text(".held .diff .d"), `"Bash"`)
	require.Contains(t, a.text(".page"), "This start loosened the policy.")
	news := ben.get("/system").text("main")
	require.Contains(t, news, "waits for an administrator")
	require.Contains(t, news, "was loosened at the last start")
	require.Zero(t, a.doc.Find(".policy form").Length())
	require.Contains(t, a.text(".held"), "an administrator can")
	confirmed := url.Values{"instead": {"d-now"}, "held": {"d-held"}, "confirm": {"yes"}}
	require.Equal(t, http.StatusForbidden, ben.post("/system/policy/confirm", confirmed).status)
	require.Equal(t, http.StatusForbidden, ben.post("/system/policy/reload", url.Values{}).status)
	require.Equal(t, http.StatusForbidden, w.as("eve").post("/system/policy/confirm", confirmed).status)
	require.Empty(t, p.asked)

	a = ada.get("/system/policy")
	requireClean(t, a)
	form := a.fields("form.confirm")
	require.Equal(t, url.Values{"instead": {"d-now"}, "held": {"d-held"}}, form)
	a = ada.post("/system/policy/confirm", form)
	require.Equal(t, http.StatusBadRequest, a.status)
	require.Contains(t, a.text("[role=alert]"), "Tick the box")
	require.Empty(t, p.asked)
	require.Equal(t, http.StatusSeeOther, ada.post("/system/policy/confirm", confirmed).status)
	require.Equal(t, []string{"confirm d-now d-held admin"}, p.asked)
	p.fail = ui.ErrPolicyMoved
	a = ada.post("/system/policy/confirm", confirmed)
	require.Equal(t, http.StatusConflict, a.status)
	require.Contains(t, a.text("[role=alert]"), "Nothing was changed")
}

// What became of the last reload is told, with text of the file made visible.
func TestAPolicyIsReadAgain(t *testing.T) {
	p := holding()
	p.standing.Held, p.standing.Start = nil, ui.PolicyAtStart{}
	w := newWorld(t, func(o *ui.Options) { o.Policies = p })
	ada := w.as("ada")
	require.Equal(t, http.StatusSeeOther, ada.post("/system/policy/reload", url.Values{}).status)
	a := ada.get("/system/policy")
	requireClean(t, a)
	require.Contains(t, a.text(".page"), "FailedRead again by")
	require.Contains(t, a.text(".note.bad"), "U+202Enot")
	require.Contains(t, a.text(".note.mild"), "They need a restart: models, tools.custom")
	p.standing.File = ""
	require.Contains(t, ada.get("/system/policy").text(".page"), "without a configuration file")
}

// A console without the program's policy has no such page.
func TestNoPolicyPage(t *testing.T) {
	w := newWorld(t, nil)
	require.Equal(t, http.StatusNotFound, w.as("ada").get("/system/policy").status)
}

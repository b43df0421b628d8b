package ui_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui"
)

func TestApproveExactlyThis(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben := w.as("ben")
	page := ben.get("/requests/" + q.RequestID)
	require.Equal(t, http.StatusOK, page.status)
	form := page.fields("form.decide")
	form.Set("verdict", "approve")
	a := ben.post("/requests/"+q.RequestID+"/decide", form)
	require.Equal(t, http.StatusSeeOther, a.status, a.text("main"))
	require.Equal(t, "/requests/"+q.RequestID+"?decided=1", a.header.Get("Location"))

	r := w.gate.last()
	require.Equal(t, events.VerdictApprove, r.Verdict)
	require.Equal(t, q.Digest, r.RequestDigest)
	require.Nil(t, r.Arguments)
	require.Equal(t, "Ben Okafor", r.ActorName)
	require.Equal(t, []string{"reviewer"}, r.Actor.Roles)
	require.Equal(t, "session", r.Actor.Method)
	require.Equal(t, q.Digest, r.Seen.Digest)
	require.Equal(t, form.Get("render"), r.Seen.Render)
	require.Equal(t, form.Get("key"), r.IdempotencyKey)

	after := ben.get("/requests/" + q.RequestID)
	require.Contains(t, after.text(".outcome"), "Approved by Ben Okafor at 14:00:0")
	require.Zero(t, after.doc.Find("form.decide").Length())
}

func TestWhatTheServerDeliveredIsSaidOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben, dana := w.as("ben"), w.as("dana")
	form := ben.get("/requests/" + q.RequestID).fields("form.decide")
	form.Set("verdict", "decline")
	w.gate.set("not now", nil)
	path := "/requests/" + q.RequestID + "/decide"
	dana.post(path, form) // another person's page
	require.Nil(t, w.gate.last().Seen)
	ben.post(path, form)
	require.Nil(t, w.gate.last().Seen, "an id serves once, whoever used it up")
	fresh := ben.get("/requests/" + q.RequestID).fields("form.decide")
	fresh.Set("verdict", "decline")
	w.log.Advance(2 * time.Minute)
	ben.post(path, fresh)
	require.NotNil(t, w.gate.last().Seen)
	ben.post(path, fresh)
	require.Nil(t, w.gate.last().Seen)
}

func TestDeclineWithComment(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("form.decide")
	form.Set("verdict", "decline")
	form.Set("comment", " <iframe srcdoc='<script>alert(8)</script>'>\u202e\r\nnot today ")
	require.Equal(t, http.StatusSeeOther, ben.post("/requests/"+q.RequestID+"/decide", form).status)
	require.Equal(t, "<iframe srcdoc='<script>alert(8)</script>'>\u202e\nnot today", w.gate.last().Comment)
	after := ben.get("/requests/" + q.RequestID)
	require.Contains(t, after.text(".outcome"), "Declined by Ben Okafor")
	require.Contains(t, after.text(".outcome pre"), "<iframe srcdoc='<script>alert(8)</script>'>U+202E not today")
	require.Zero(t, after.doc.Find("iframe").Length())
}

func TestFormsThatAreNotOurs(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben := w.as("ben")
	good := ben.get("/requests/" + q.RequestID).fields("form.decide")
	good.Set("verdict", "approve")
	path := "/requests/" + q.RequestID + "/decide"
	for name, change := range map[string]func(url.Values){
		"no verdict":                func(f url.Values) { f.Del("verdict") },
		"another verdict":           func(f url.Values) { f.Set("verdict", "approved") },
		"two verdicts":              func(f url.Values) { f.Add("verdict", "decline") },
		"no digest":                 func(f url.Values) { f.Del("digest") },
		"no key":                    func(f url.Values) { f.Del("key") },
		"changes without arguments": func(f url.Values) { f.Set("verdict", "approve_and_modify") },
		"a long comment":            func(f url.Values) { f.Set("comment", strings.Repeat("x", 4001)) },
		"not UTF-8":                 func(f url.Values) { f.Set("comment", "\xff") },
		"too large":                 func(f url.Values) { f.Set("arguments", strings.Repeat("x", 5<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := url.Values{}
			for k, v := range good {
				f[k] = append([]string{}, v...)
			}
			change(f)
			require.Equal(t, http.StatusBadRequest, ben.post(path, f).status)
		})
	}
	require.Equal(t, http.StatusBadRequest, ben.post(path+"?verdict=approve", good).status)
	require.Zero(t, w.gate.count())
	require.Equal(t, http.StatusForbidden, ben.post("/requests/unknown/decide", good).status)
}

func TestARulingWithoutEffectSaysWhatHadHappened(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(w *world, id string)
		status    int
		want      string
	}{
		"declined by somebody else": {func(w *world, id string) {
			q := w.gate.requests[id]
			w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "no")
			w.gate.set("the request was declined by Dana", nil)
		}, http.StatusConflict, "Declined by Dana"},
		"expired": {func(w *world, id string) {
			w.log.Advance(4 * time.Minute)
			w.log.End(w.gate.requests[id], events.CauseTimeout)
			w.gate.set("the request expired", nil)
		}, http.StatusGone, "nobody answered in time"},
		"expired, and not judged yet": {func(w *world, _ string) {
			w.log.Advance(4 * time.Minute)
			w.gate.set("its time is over", nil)
		}, http.StatusGone, "time is over"},
		"cancelled": {func(w *world, id string) {
			w.log.End(w.gate.requests[id], events.CauseCancelled)
			w.gate.set("the request ended", nil)
		}, http.StatusConflict, "the run was cancelled"},
		"still open": {func(w *world, _ string) { w.gate.set("you approved it already", nil) }, http.StatusConflict, "you approved it already"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
			ben := w.as("ben")
			form := ben.get("/requests/" + q.RequestID).fields("form.decide")
			form.Set("verdict", "approve")
			c.meanwhile(w, q.RequestID)
			a := ben.post("/requests/"+q.RequestID+"/decide", form)
			require.Equal(t, c.status, a.status)
			require.Contains(t, a.text("[role=alert]"), "Your decision had no effect")
			require.Contains(t, a.text("main"), c.want)
		})
	}
}

func TestAFailingGateIsNotAnApproval(t *testing.T) {
	for want, fail := range map[int]error{http.StatusInternalServerError: errors.New("secret detail"), http.StatusServiceUnavailable: ui.ErrUnjudged} {
		w := newWorld(t, nil)
		_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
		ben := w.as("ben")
		form := ben.get("/requests/" + q.RequestID).fields("form.decide")
		form.Set("verdict", "approve")
		w.gate.set("", fail)
		a := ben.post("/requests/"+q.RequestID+"/decide", form)
		require.Equal(t, want, a.status)
		require.NotContains(t, a.body, "secret detail")
		require.Contains(t, ben.get("/requests/"+q.RequestID).text(".chip"), "Waiting")
	}
}

func TestWhoMayNotDecideSeesWhyAndNoForm(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	c := w.log.Propose("s1", "run-s1", "b2", 0, "Deploy", `{}`, events.EffectAsk)
	narrow := w.log.Ask(c, func(a *events.ApprovalRequest) { a.Approvers = []string{"group:sre"} })
	secret := w.log.Ask(w.log.Propose("s2", w.log.Run("s2", "carla", "x"), "b1", 0, "Deploy", `{"key":"hush"}`, events.EffectAsk),
		func(a *events.ApprovalRequest) { a.Approvers = []string{"group:sre"} })
	w.settle()
	good := w.as("ben").get("/requests/" + q.RequestID).fields("form.decide")

	for name, c := range map[string]struct {
		who, id string
		status  int
		why     string
	}{
		"an auditor":                     {"eve", q.RequestID, http.StatusOK, "Your role does not decide requests"},
		"a reviewer of another group":    {"ben", narrow.RequestID, http.StatusOK, "1 person of group:sre"},
		"a reviewer who was never asked": {"ben", secret.RequestID, http.StatusForbidden, "another person's conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.as(c.who)
			a := p.get("/requests/" + c.id)
			require.Equal(t, c.status, a.status)
			require.Contains(t, a.text("main"), c.why)
			require.Zero(t, a.doc.Find("form.decide, form[action$=change]").Length())
			require.Equal(t, c.who == "eve", strings.Contains(a.body, "hush"), "auditors see all, others what is theirs")
		})
	}
	good.Set("verdict", "approve")
	require.Equal(t, http.StatusForbidden, w.as("eve").post("/requests/"+q.RequestID+"/decide", good).status)
	require.Equal(t, http.StatusForbidden, w.as("ben").post("/requests/"+secret.RequestID+"/decide", good).status)
	require.Zero(t, w.gate.count())
}

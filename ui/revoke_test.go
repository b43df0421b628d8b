package ui_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
	"github.com/countersign-dev/countersign/ui"
)

// stubRevoker writes revocations into the log, as a gate would.
type stubRevoker struct {
	w       *world
	refuse  string
	fail    error
	revoked []ui.Revocation
}

// Revoke implements ui.Revoker.
func (s *stubRevoker) Revoke(_ context.Context, r ui.Revocation) (ui.Answer, error) {
	s.revoked = append(s.revoked, r)
	if s.fail != nil || s.refuse != "" {
		return ui.Answer{Reason: s.refuse}, s.fail
	}
	q, err := s.w.views.Request(context.Background(), r.RequestID)
	if err != nil {
		return ui.Answer{}, err
	}
	s.w.log.Append(events.Draft{Session: q.Session, Data: &events.Revocation{RequestID: q.RequestID, Decision: q.End.EventID, Actor: *r.Actor}})
	return ui.Answer{Accepted: true}, nil
}

// approvedRequest is a request that was approved and has not started.
func approvedRequest(t *testing.T) (*world, *stubRevoker, pt.Request) {
	t.Helper()
	s := &stubRevoker{}
	s.w = newWorld(t, func(o *ui.Options) { o.Revoker = s })
	_, q := s.w.ask("s1", "Bash", `{"command":"ls"}`)
	s.w.log.Decide(q, s.w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictApprove, "")
	s.w.settle()
	return s.w, s, q
}

func TestAnApprovalIsTakenBack(t *testing.T) {
	w, s, q := approvedRequest(t)
	ben := w.as("ben")
	page := ben.get("/requests/" + q.RequestID)
	require.Regexp(t, `It has not started. It starts by \d\d:\d\d:\d\d UTC, or the approval lapses.`, page.text(".outcome"))
	form := page.doc.Find("details.revoke form")
	require.Equal(t, 1, form.Length(), "it works without scripts, in two steps")
	require.Equal(t, "/requests/"+q.RequestID+"/revoke", form.AttrOr("action", ""))
	a := ben.post("/requests/"+q.RequestID+"/revoke", url.Values{"comment": {" wrong\r\nbox "}})
	require.Equal(t, http.StatusSeeOther, a.status, a.text("main"))
	require.Equal(t, "/requests/"+q.RequestID, a.header.Get("Location"))
	require.Len(t, s.revoked, 1)
	require.Equal(t, q.RequestID, s.revoked[0].RequestID)
	require.Equal(t, "wrong\nbox", s.revoked[0].Comment)
	require.Equal(t, "Ben Okafor", s.revoked[0].ActorName)

	after := ben.get("/requests/" + q.RequestID)
	require.Contains(t, after.text(".outcome"), "Approved by Dana")
	require.Contains(t, after.text(".outcome"), "taken back before the call started")
	require.Contains(t, after.text("header.head"), "Taken back")
	require.Zero(t, after.doc.Find("details.revoke").Length())
}

func TestWhoSeesTheWayBack(t *testing.T) {
	w, s, q := approvedRequest(t)
	for who, may := range map[string]bool{"ben": true, "eve": false} {
		page := w.as(who).get("/requests/" + q.RequestID)
		require.Equal(t, http.StatusOK, page.status, who)
		require.Equal(t, may, page.doc.Find("details.revoke").Length() == 1, who)
		if !may {
			require.Equal(t, http.StatusForbidden, w.as(who).post("/requests/"+q.RequestID+"/revoke", url.Values{}).status, who)
		}
	}
	_, pending := w.ask("s2", "Bash", `{"command":"ls"}`)
	require.Zero(t, w.as("ben").get("/requests/"+pending.RequestID).doc.Find("details.revoke").Length())
	require.Empty(t, s.revoked)
}

func TestARevocationWithoutEffectSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		refuse string
		fail   error
		form   url.Values
		status int
		want   string
	}{
		"too late":       {refuse: "the call started at 14:00:01 UTC\u202e", form: url.Values{}, status: http.StatusConflict, want: "The approval was not taken back: the call started at 14:00:01 UTC"},
		"not judged yet": {fail: ui.ErrUnjudged, form: url.Values{}, status: http.StatusServiceUnavailable, want: "look at the request again"},
		"the log":        {fail: events.ErrRefused, form: url.Values{}, status: http.StatusServiceUnavailable, want: "takes no new work"},
		"a long comment": {form: url.Values{"comment": {strings.Repeat("x", 4001)}}, status: http.StatusBadRequest, want: "was cut"},
		"twice the same": {form: url.Values{"comment": {"a", "b"}}, status: http.StatusBadRequest, want: "was cut"},
	} {
		t.Run(name, func(t *testing.T) {
			w, s, q := approvedRequest(t)
			s.refuse, s.fail = c.refuse, c.fail
			a := w.as("ben").post("/requests/"+q.RequestID+"/revoke", c.form)
			require.Equal(t, c.status, a.status)
			require.Contains(t, a.text("main"), c.want)
		})
	}
}

// A log that is open for reading only is shown, under a banner; nobody decides.
func TestAReadOnlyConsole(t *testing.T) {
	s := &stubRevoker{}
	s.w = newWorld(t, func(o *ui.Options) { o.Revoker, o.ReadOnly = s, "the log was rolled back: \u202eit ends early" })
	w := s.w
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	_, done := w.ask("s2", "Bash", `{"command":"ls"}`)
	w.log.Decide(done, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictApprove, "")
	w.settle()
	ben := w.as("ben")
	for _, path := range []string{"/inbox", "/requests/" + q.RequestID, "/requests/" + done.RequestID, "/history", "/sessions", "/system", "/nothing"} {
		page := ben.get(path)
		require.Contains(t, page.text(".banner"), "Reading only: the log was rolled back: ⟦U+202E⟧it ends early", path)
		require.Zero(t, page.doc.Find("form.decide, details.revoke").Length(), path)
	}
	require.Equal(t, "Reading only: the log was rolled back. Sign in to see what was found, and what to do.", w.stranger().get("/sign-in").doc.Find(".banner").First().Text())
	for _, path := range []string{"/requests/" + q.RequestID + "/decide", "/requests/" + q.RequestID + "/change", "/requests/" + done.RequestID + "/revoke", "/inbox/decide"} {
		a := ben.post(path, url.Values{"verdict": {"approve"}})
		require.Equal(t, http.StatusServiceUnavailable, a.status, path)
		require.Contains(t, a.text("main"), "othing can be decided now", path)
	}
	require.Zero(t, w.gate.count())
}

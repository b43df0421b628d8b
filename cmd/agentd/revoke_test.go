package main_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// A turn asks for two calls. One is approved, and held back while the other
// waits; the approval is taken back in the console, without scripts. The call
// never starts, the model is told so, and the run goes on.
func TestAnApprovalIsTakenBackInTime(t *testing.T) {
	h := newHome(t)
	p := h.start()
	query := plan{{count("Count", "first"), count("Count", "second")}}.query()
	s := p.as(agentToken).begin(t, query)
	first, second := s.until(t, "approval_request").RequestID, s.until(t, "approval_request").RequestID
	p.as(aliceToken).approve(t, first)

	who := newPerson(t, p.base)
	status, page := who.post("/sign-in", url.Values{"token": {aliceToken}, "next": {""}})
	require.Equal(t, http.StatusOK, status, page)
	eventually(t, "the page offers the way back", func() bool {
		_, page = who.get("/requests/" + first)
		return strings.Contains(page, `action="/requests/`+first+`/revoke"`)
	})
	require.Regexp(t, `It has not started\. It starts by \d\d:\d\d:\d\d UTC, or the approval lapses\.`, page)
	status, page = who.post("/requests/"+first+"/revoke", url.Values{"comment": {"the wrong box"}})
	require.Equal(t, http.StatusOK, status, page)
	require.Contains(t, page, "taken back before the call started")
	status, page = who.post("/requests/"+first+"/revoke", url.Values{"comment": {""}})
	require.Equal(t, http.StatusConflict, status, page)
	require.Contains(t, page, "The approval was not taken back: the approval was taken back already.")

	p.as(aliceToken).approve(t, second)
	require.Equal(t, "STOP", s.rest(t).Reason)
	require.Equal(t, []string{`{"key":"second"}`}, h.executions())
	require.Contains(t, h.model.told(query, callID(0, 0)), "The approval was taken back before the call started.")
	p.stops()
	l := readLog(t, h.path("data", "journal.db"))
	taken := all[*events.Revocation](l)
	require.Len(t, taken, 1)
	require.Equal(t, all[*events.Decision](l)[0].Actor.Person, taken[0].Actor.Person)
	require.Equal(t, "session", taken[0].Actor.Method)
}

// The pages of this, as a browser shows them.
func TestPagesOfRevocationAndRollback(t *testing.T) {
	folder := cmp.Or(screenshots(), t.TempDir())
	require.NoError(t, os.MkdirAll(folder, 0o755))
	h := watched(t)
	p := h.start()
	s := p.as(agentToken).begin(t, plan{{count("Count", "first"), count("Count", "second")}}.query())
	first := s.until(t, "approval_request").RequestID
	s.until(t, "approval_request")
	p.stops()
	h.keep()
	p = h.start()
	p.as(aliceToken).approve(t, first)
	b := newBrowser(t)
	b.open(p.link)
	b.leave("form.panel button")
	b.open(p.console() + "/requests/" + first)
	b.see("details.revoke")
	b.shoot(folder, "revoke", p.console()+"/requests/"+first)
	script, err := os.ReadFile("testdata/axe/axe.min.js")
	require.NoError(t, err)
	for _, width := range []int64{320, 1280} {
		b.look("dark", width, 900)
		b.open(p.console() + "/requests/" + first)
		b.do(chromedp.Click(chromedp.CSS("details.revoke summary")))
		b.see("details.revoke .btn")
		require.Empty(t, b.axe(string(script)))
		png := value(b, chromedp.CaptureScreenshot())
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("revoke-open-%d.png", width)), png, 0o644))
	}
	require.Equal(t, http.StatusOK, b.leave("details.revoke .btn"))
	require.Contains(t, b.text(".outcome"), "taken back before the call started")
	b.shoot(folder, "taken-back", p.console()+"/requests/"+first)
	p.stops()

	h.putBack()
	p = h.start()
	b.open(p.link)
	b.leave("form.panel button")
	b.see(".banner")
	b.shoot(folder, "read-only", p.console()+"/inbox")
	b.shoot(folder, "read-only-request", p.console()+"/requests/"+first)
	p.stops()
}

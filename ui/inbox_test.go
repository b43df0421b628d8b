package ui_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

func TestAnEmptyInboxSaysWhatIsNotWrong(t *testing.T) {
	w := newWorld(t, nil)
	ben := w.as("ben")
	w.settle()
	w.log.Advance(4 * time.Second)
	idle := ben.get("/inbox").text(".idle")
	require.Contains(t, idle, "Nothing waits")
	require.Contains(t, idle, "The last record is #0, 4s ago.")
	require.Contains(t, idle, "up to date with the log")
	require.Contains(t, idle, "Write, Edit and Bash ask")
}

func TestTheInboxShowsTheOldestBesideTheQueue(t *testing.T) {
	w := newWorld(t, nil)
	_, first := w.ask("s1", "Write", `{"path":"a","content":"x"}`)
	_, second := w.ask("s2", "Bash", `{"command":"rm -rf ./build"}`)
	w.log.Advance(130 * time.Second)
	a := w.as("ben").get("/inbox")
	cards := a.doc.Find(".card").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") })
	require.Equal(t, []string{"/requests/" + first.RequestID, "/requests/" + second.RequestID}, cards)
	require.Equal(t, first.RequestID, a.doc.Find("#request").AttrOr("data-request", ""))
	require.Equal(t, "true", a.doc.Find(".card").First().AttrOr("aria-current", ""))
	require.Contains(t, a.text(".card"), "rm -rf ./build")
	require.Equal(t, "(2) Inbox · Countersign", a.text("title"))
	require.Regexp(t, `^0:4\d$`, a.doc.Find(".card .left").First().Text())
	require.True(t, a.doc.Find(".card .left").First().HasClass("soon"))
}

func TestARequestPageHasItsPartsInOrder(t *testing.T) {
	w := newWorld(t, nil)
	w.log.Person("carla", "Carla Reyes", "agent")
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	a := w.as("ben").get("/requests/" + q.RequestID)
	var order []string
	a.doc.Find("#request .head, #request .facts, #request .arguments, #request form.decide, #request .sheet.below .turn, #request .told, #request .theirs").
		Each(func(_ int, s *goquery.Selection) { order = append(order, s.AttrOr("class", "")) })
	require.Equal(t, []string{"head", "facts", "facts", "arguments", "decide", "turn", "told", "theirs"}, order)
	facts := a.text(".facts")
	for _, want := range []string{
		"deploy-bot / migrator", "Carla Reyes", "s1", "14:00:00 UTC", "14:03:00 UTC", "does not run", "required-tools", "isolation: none", "default",
	} {
		require.Contains(t, facts, want)
	}
	require.Contains(t, a.text(".why"), "required-tools names Bash")
	require.Contains(t, a.text(".arguments"), "16 bytes")
	require.Contains(t, a.text(".arguments .digest"), string(events.DigestOf([]byte(`{"command":"ls"}`))))
	require.Contains(t, a.text(".told"), "Declined by a reviewer (Ben Okafor).")
	require.Contains(t, a.text(".theirs"), "I will do it")
	require.Contains(t, a.text(".theirs"), "please do it")
	require.Contains(t, a.text(".banner"), "isolation: none")
	require.Contains(t, a.text(".foot"), "Sealed:")
}

func TestTheQueueIsNotSentTwice(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("s1", "Bash", `{}`)
	ben := w.as("ben")
	w.settle()
	a := ben.get("/inbox/queue?current=x")
	tag := a.header.Get("ETag")
	require.NotEmpty(t, tag)
	require.Zero(t, a.doc.Find("nav, main").Length(), "a fragment")
	again := ben.do(http.MethodGet, "/inbox/queue?current=x", nil, map[string]string{"If-None-Match": tag})
	require.Equal(t, http.StatusNotModified, again.status)
	w.ask("s2", "Bash", `{}`)
	require.Equal(t, http.StatusOK, ben.do(http.MethodGet, "/inbox/queue", nil, map[string]string{"If-None-Match": tag}).status)
}

func TestTheStateOfARequestIsALine(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{}`)
	ben := w.as("ben")
	a := ben.get("/requests/" + q.RequestID + "/state")
	require.Equal(t, "no", a.doc.Find("[data-digest]").AttrOr("data-ended", ""))
	require.Equal(t, string(q.Digest), a.doc.Find("[data-digest]").AttrOr("data-digest", ""))
	w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	w.settle()
	a = ben.get("/requests/" + q.RequestID + "/state")
	require.Equal(t, "yes", a.doc.Find("[data-digest]").AttrOr("data-ended", ""))
	require.Contains(t, a.text("div"), "Declined by Dana")
}

// A view is recorded once a person, request and hour, and also by a console
// that was started anew meanwhile.
func TestViewsAreRecorded(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{}`)
	ben, dana := w.as("ben"), w.as("dana")
	views := func() (n int) {
		w.settle()
		log, err := w.views.AccessLog(t.Context(), projections.AccessFilter{}, "", 100)
		require.NoError(t, err)
		for _, a := range log.Items {
			if a.Action == "view" && a.Resource == q.RequestID {
				require.Equal(t, "s1", a.Session)
				n++
			}
		}
		return n
	}
	ben.get("/requests/" + q.RequestID)
	require.Equal(t, 1, views())
	ben.get("/requests/" + q.RequestID + "/download")
	ben.get("/inbox")
	require.Equal(t, 1, views())
	dana.get("/requests/" + q.RequestID)
	require.Equal(t, 2, views())
	w.log.Advance(time.Hour)
	ben.get("/requests/" + q.RequestID)
	require.Equal(t, 3, views())
}

package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui"
)

// Statements U16 to U23 and U31: what a decision is bound to, and what pages do
// by themselves, which is nothing.

// U16: reading changes nothing. What is recorded of it is that it was read. And
// U23: nothing on any page acts.
func TestU16U23ReadingDecidesNothing(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	w.ask("s2", "Bash", `{"command":"pwd"}`)
	ben := w.as("ben")
	seen, todo := map[string]bool{}, []string{"/inbox"}
	for len(todo) > 0 && len(seen) < 200 {
		path := todo[0]
		todo = todo[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		require.Less(t, ben.get(path).status, 500, path)
		require.Empty(t, ben.do(http.MethodHead, path, nil, nil).body, path)
		page := ben.get(path)
		if strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
			requireClean(t, page) // U23
		}
		page.doc.Find("a[href^='/'], form[method=get]").Each(func(_ int, s *goquery.Selection) {
			to := s.AttrOr("href", s.AttrOr("action", ""))
			if to == "/inbox/select" {
				to = selectPath(q.RequestID)
			}
			todo = append(todo, strings.Split(to, "#")[0])
		})
	}
	require.Greater(t, len(seen), 8)
	require.Zero(t, w.gate.count())
	w.settle()
	pending, err := w.views.Pending(t.Context(), projections.Everything(), 10)
	require.NoError(t, err)
	require.Len(t, pending, 2)
	require.Empty(t, w.decisions(t))
}

// U17: a form of another site decides nothing.
func TestU17FormsOfOtherSitesDecideNothing(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("form.decide")
	form.Set("verdict", "approve")
	bulk := bulkForm(ben.get(selectPath(q.RequestID)), "approve")
	for _, header := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}} {
		header["Content-Type"] = "application/x-www-form-urlencoded"
		for path, f := range map[string]url.Values{"/requests/" + q.RequestID + "/decide": form, "/requests/" + q.RequestID + "/change": form, "/inbox/decide": bulk} {
			require.Equal(t, http.StatusForbidden, ben.do(http.MethodPost, path, f, header).status, path)
		}
	}
	require.Zero(t, w.gate.count())
}

// U18: of two who decide at once one does; the other learns who did, what and
// when.
func TestU18TheLoserLearnsWhoWhatAndWhen(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	path := "/requests/" + q.RequestID
	answers := map[int]answer{}
	var mu sync.Mutex
	var both sync.WaitGroup
	for _, name := range []string{"ben", "dana"} {
		p := w.as(name)
		form := p.get(path).fields("form.decide")
		form.Set("verdict", "approve")
		both.Go(func() {
			a := p.post(path+"/decide", form)
			mu.Lock()
			defer mu.Unlock()
			answers[a.status] = a
		})
	}
	both.Wait()
	require.Contains(t, answers, http.StatusSeeOther)
	loser, ok := answers[http.StatusConflict]
	require.True(t, ok)
	require.Regexp(t, `Approved by (Ben Okafor|Dana) at \d\d:\d\d:\d\d UTC`, loser.text(".outcome"))
	require.Contains(t, loser.text("[role=alert]"), "Your decision had no effect")
	require.Len(t, w.decisions(t)[q.RequestID], 1)
}

// U19: the same form twice is one decision.
func TestU19TheSameFormTwiceIsOneDecision(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("form.decide")
	form.Set("verdict", "decline")
	for range 2 {
		a := ben.post("/requests/"+q.RequestID+"/decide", form)
		require.Equal(t, http.StatusSeeOther, a.status)
		require.Equal(t, "/requests/"+q.RequestID+"?decided=1", a.header.Get("Location"))
	}
	require.Len(t, w.decisions(t)[q.RequestID], 1)
}

// U20: after the deadline 410, about another text 409, and nothing is written.
func TestU20TooLateAndOtherTexts(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(*world, url.Values)
		status    int
	}{
		"too late": {func(w *world, _ url.Values) { w.log.Advance(4 * time.Minute); w.gate.set("its time is over", nil) }, http.StatusGone},
		"another digest": {func(w *world, f url.Values) {
			f.Set("digest", strings.Repeat("0", 64))
			w.gate.set("the request has other arguments now", nil)
		}, http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
			ben := w.as("ben")
			form := ben.get("/requests/" + q.RequestID).fields("form.decide")
			form.Set("verdict", "approve")
			c.meanwhile(w, form)
			require.Equal(t, c.status, ben.post("/requests/"+q.RequestID+"/decide", form).status)
			require.Empty(t, w.decisions(t))
		})
	}
}

// U21: what is shown is what is hashed.
func TestU21TheDigestOnThePageIsOfTheBytes(t *testing.T) {
	digests := map[string]bool{}
	for _, text := range []string{`{"command":"ls"}`, `{"command":"lS"}`, `{"command":"ls" }`, "{\"command\":\"ls\u200b\"}"} {
		_, ben, q, a := requestOf(t, shownCall{ToolName: "Bash", Arguments: text})
		digest := a.text(".arguments .digest")
		require.Equal(t, string(events.DigestOf([]byte(text))), digest)
		require.Equal(t, text, ben.get("/requests/"+q.RequestID+"/download").body)
		require.Equal(t, string(q.Digest), a.fields("form.decide").Get("digest"), "what is decided on is named")
		require.Contains(t, a.text(".more .facts"), string(q.Digest))
		digests[digest] = true
	}
	require.Len(t, digests, 4)
}

// U22: whatever is in the arguments, the page is soon there, small and inert.
func TestU22HostileArgumentsAreSoonShown(t *testing.T) {
	for name, text := range map[string]string{
		"controls":       "{\"command\":\"a\u202eb\u200bc\x1b[2J</script>\\u0000\"}",
		"a megabyte":     `{"command":"` + strings.Repeat("<&\u202e", 130_000) + `"}`,
		"100,000 levels": strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"an edit":        `{"path":"a","old":"` + strings.Repeat(`a\n`, 100_000) + `","new":"` + strings.Repeat(`b\n`, 100_000) + `"}`,
		"mixed scripts":  `{"раth":"https://аpple.com/\u0301","path":"a"}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, ben, q, a := requestOf(t, shownCall{ToolName: "Bаsh", Arguments: text})
			best := time.Hour // others use this machine too
			for range 5 {
				begin := time.Now()
				a = ben.get("/requests/" + q.RequestID)
				best = min(best, time.Since(begin))
			}
			require.Less(t, best, 5*time.Second*slow)
			require.Less(t, len(a.body), maxPage)
			require.Contains(t, a.text(".arguments"), "bytes")
			require.Contains(t, a.text(".note"), "mixes letters", "of the tool's name")
		})
	}
}

// U31: who may not decide sees why; who has approved sees what it waits for.
func TestU31WhoHasApprovedSeesWhatItWaitsFor(t *testing.T) {
	w := newWorld(t, nil)
	call := w.log.Propose("s1", w.log.Run("s1", "carla", "x"), "b1", 0, "Bash", `{"command":"ls"}`, events.EffectAsk)
	q := w.log.Ask(call, func(a *events.ApprovalRequest) { a.Quorum = 2 })
	w.gate.add(q)
	w.settle()
	ben, dana := w.as("ben"), w.as("dana")
	form := ben.get("/requests/" + q.RequestID).fields("form.decide")
	form.Set("verdict", "approve")
	require.Equal(t, http.StatusSeeOther, ben.post("/requests/"+q.RequestID+"/decide", form).status)
	after := ben.get("/requests/" + q.RequestID + "?decided=1")
	require.Contains(t, after.text("form.decide .only"), "You approved this at")
	require.Contains(t, after.text("form.decide .only"), "It waits for 1 more person.")
	require.Zero(t, after.doc.Find("button[value=approve]").Length())
	require.Equal(t, 1, after.doc.Find("button[value=decline]").Length())
	require.Contains(t, after.text("[role=status]"), "Your decision is recorded.")
	other := dana.get("/requests/" + q.RequestID)
	require.Contains(t, other.text(".facts"), "Approved so farBen Okafor at")
	require.Equal(t, 1, other.doc.Find("button[value=approve]").Length())
	require.Contains(t, other.text(".card .meta"), "1 of 2 approvals")
}

// After a decision the page stays where it is, and the way on has the focus.
func TestTheWayOnAfterADecision(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	_, next := w.ask("s2", "Write", `{"path":"a","content":"x"}`)
	ben := w.as("ben")
	decide := func(id string) answer {
		form := ben.get("/requests/" + id).fields("form.decide")
		form.Set("verdict", "approve")
		return ben.get(ben.post("/requests/"+id+"/decide", form).header.Get("Location"))
	}
	a := decide(q.RequestID)
	way := a.doc.Find("#next[autofocus]")
	require.Equal(t, "/requests/"+next.RequestID, way.AttrOr("href", ""))
	require.Contains(t, way.Text(), "Write")
	require.Equal(t, "outcome", way.AttrOr("aria-describedby", ""))
	require.Contains(t, a.text("#outcome"), "Approved by Ben Okafor")
	require.Equal(t, "/inbox", decide(next.RequestID).doc.Find("#next[autofocus]").AttrOr("href", ""))
	require.Zero(t, ben.get("/requests/"+q.RequestID).doc.Find("[autofocus]").Length(), "only after an own decision")
}

// Enter in the comment must not approve: no button of the form is its default.
func TestEnterInTheCommentDecidesNothing(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben := w.as("ben")
	for _, path := range []string{"/requests/" + q.RequestID, selectPath(q.RequestID)} {
		first := ben.get(path).doc.Find("[data-decide] button").First()
		_, disabled := first.Attr("disabled")
		require.True(t, disabled, path)
	}
}

// The last approved call of the same tool and agent stands below, compared.
func TestADifferenceToTheLastApprovedCall(t *testing.T) {
	w := newWorld(t, nil)
	_, old := w.ask("s1", "Write", `{"path":"a","content":"one\ntwo\n"}`)
	w.log.Decide(old, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictApprove, "")
	_, q := w.ask("s2", "Write", `{"path":"a","content":"one\nthree\n"}`)
	a := w.as("ben").get("/requests/" + q.RequestID)
	theirs := a.doc.Find(".sheet.below .theirs").First()
	require.Contains(t, theirs.Text(), "Against the last approved call")
	require.Contains(t, theirs.Text(), "approved by Dana")
	require.Contains(t, theirs.Find(".diff .a").Text(), "+ three")
	require.Contains(t, theirs.Find(".diff .d").Text(), "- two")
}

func TestAnEditIsShownAsADifference(t *testing.T) {
	_, _, _, a := requestOf(t, shownCall{ToolName: "Edit", Arguments: `{"path":"a.go","old":"x := 1\n","new":"x := 2\n"}`})
	require.Contains(t, a.text(".arguments .value"), "old against new")
	require.Equal(t, "- x := 1", a.text(".arguments .diff .d"))
	require.Equal(t, "+ x := 2", a.text(".arguments .diff .a"))
}

// Ten thousand that wait are a page, and the number of the rest.
func TestALongQueueIsPaged(t *testing.T) {
	w := newWorld(t, nil)
	run := w.log.Run("s1", "carla", "x")
	for i := range 75 {
		w.log.Protected("s1", run, "b"+itoa(i), 0, "Bash", `{"command":"echo `+itoa(i)+`"}`)
	}
	w.settle()
	ben := w.as("ben")
	var seen []string
	path := "/inbox"
	for pages := 0; path != ""; pages++ {
		require.Less(t, pages, 4)
		a := ben.get(path)
		require.Less(t, len(a.body), 60<<10)
		require.Equal(t, "75", a.text("#waiting"))
		a.doc.Find(".card .sum").Each(func(_ int, s *goquery.Selection) { seen = append(seen, s.Text()) })
		if pages == 0 {
			require.Equal(t, "and 45 more, newer ones", a.text(".queue a[rel=next]"))
		}
		path = a.doc.Find(".queue a[rel=next]").AttrOr("href", "")
	}
	require.Len(t, seen, 75)
	require.Equal(t, "echo 0", seen[0])
	require.Equal(t, "echo 74", seen[74])
	require.Equal(t, http.StatusBadRequest, ben.get("/inbox?after=nonsense").status)
	require.Equal(t, http.StatusBadRequest, w.as("eve").get("/inbox?after="+url.QueryEscape(strings.Split(path, "=")[0]+"1-0-1-deadbeef")).status)
}

// Pages weigh less than 60 KB besides the payloads that they show, also with a
// full queue of hostile calls.
func TestAFullQueueOfHostileCallsIsLight(t *testing.T) {
	w := newWorld(t, nil)
	run := w.log.Run("s1", "carla", strings.Repeat("\u202e<b>", 100))
	for i := range 40 {
		w.log.Protected("s1", run, "b"+itoa(i), 0, strings.Repeat("B\u200b", 50), `{"\u202e<":"`+strings.Repeat("\u202e&\u200b", 5000)+`"}`)
	}
	w.settle()
	ben := w.as("ben")
	a := ben.get("/inbox/queue")
	requireClean(t, a)
	require.Less(t, len(a.body), 110<<10)
	b := ben.get("/inbox")
	require.Less(t, len(b.body), maxPage)
	_, plain := w.ask("s2", "Bash", `{"command":"ls"}`)
	other := newWorld(t, nil)
	_, q := other.ask("s1", "Bash", `{"command":"ls"}`)
	require.Less(t, len(other.as("ben").get("/requests/"+q.RequestID).body), 60<<10)
	require.Equal(t, http.StatusOK, ben.get("/requests/"+plain.RequestID).status)
}

func TestCountsAreOfWhatTheReaderMaySee(t *testing.T) {
	w := newWorld(t, func(*ui.Options) {})
	w.ask("s1", "Bash", `{"command":"ls"}`)
	w.log.Ask(w.log.Propose("s2", w.log.Run("s2", "carla", "x"), "b1", 0, "Deploy", `{}`, events.EffectAsk),
		func(a *events.ApprovalRequest) { a.Approvers = []string{"group:sre"} })
	w.settle()
	require.Equal(t, "1", w.as("ben").get("/inbox").text("#waiting"))
	eve := w.as("eve")
	inbox := eve.get("/inbox")
	require.Equal(t, "2", inbox.text("#waiting"))
	tabs := inbox.doc.Find(".tabs a").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") })
	require.Len(t, tabs, 4)
	for _, path := range tabs {
		require.Equal(t, http.StatusOK, eve.get(path).status, path)
	}
}

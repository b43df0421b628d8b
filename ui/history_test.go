package ui_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

func TestHistoryTellsHowEachCallEnded(t *testing.T) {
	w := newWorld(t, nil)
	l := w.log
	ben := l.Person("p-ben", "Ben", "reviewer")
	run := l.Run("s1", "carla", "go")
	free := l.Propose("s1", run, "b1", 0, "Read", `{"path":"a"}`, events.EffectAllow)
	l.Start(free, nil, "")
	l.Result(free, events.StatusOK, events.CausePolicy, "x")
	approved, q := l.Protected("s1", run, "b1", 1, "Bash", `{"command":"ls"}`)
	d := l.Decide(q, ben, events.VerdictApprove, "")
	l.Start(approved, &q, d)
	l.Result(approved, events.StatusError, events.CauseHuman, "exit status 1")
	changed, q2 := l.Protected("s1", run, "b1", 2, "Write", `{"path":"a"}`)
	q2, d = l.Modify(q2, ben, `{"path":"b"}`)
	l.Start(changed, &q2, d)
	l.Result(changed, events.StatusOK, events.CauseHuman, "x")
	declined, q3 := l.Protected("s1", run, "b1", 3, "Edit", `{}`)
	l.Decide(q3, ben, events.VerdictDecline, "no")
	l.Result(declined, events.StatusDeclined, events.CauseHuman, "no")
	expired, q4 := l.Protected("s1", run, "b1", 4, "mail__send", `{}`)
	l.Advance(4 * time.Minute)
	l.End(q4, events.CauseTimeout)
	l.Result(expired, events.StatusExpired, events.CauseTimeout, "late")
	lost, q5 := l.Protected("s1", run, "b1", 5, "Deploy", `{}`)
	d = l.Decide(q5, ben, events.VerdictApprove, "")
	l.Start(lost, &q5, d)
	l.Result(lost, events.StatusAmbiguous, events.CauseExecutorLost, "?")
	denied := l.Propose("s1", run, "b1", 6, "Kill", `{}`, events.EffectDeny)
	l.Result(denied, events.StatusDeclined, events.CausePolicy, "denied")
	l.Protected("s1", run, "b1", 7, "Bash", `{"command":"wait"}`)
	w.settle()

	var rows []string
	w.as("eve").get("/history").doc.Find("tbody tr").Each(func(_ int, s *goquery.Selection) {
		cells := s.Find("td").Map(func(_ int, c *goquery.Selection) string { return strings.TrimSpace(c.Text()) })
		rows = append(rows, strings.Join([]string{cells[1], cells[2], cells[5]}, "|"))
	})
	require.Equal(t, []string{
		"Waiting|Bash|", "Denied|Kill|policy", "Ambiguous|Deploy|Ben", "Expired|mail__send|nobody answered", "Declined|Edit|Ben",
		"Ran, changed|Write|Ben", "Failed|Bash|Ben", "Ran|Read|policy",
	}, rows)
}

func TestHistoryIsStrictAndPaged(t *testing.T) {
	w := newWorld(t, nil)
	run := w.log.Run("s1", "carla", "go")
	for i := range 120 {
		w.log.Propose("s1", run, "b1", i, []string{"Read", "Grep"}[i%2], fmt.Sprintf(`{"path":"file-%d"}`, i), events.EffectAllow)
	}
	w.settle()
	eve := w.as("eve")
	var seen []string
	path := "/history?tool=Grep"
	for path != "" {
		a := eve.get(path)
		require.Equal(t, http.StatusOK, a.status)
		require.Equal(t, "Grep", a.doc.Find("select[name=tool] option[selected]").Text())
		seen = append(seen, a.doc.Find("td.sum").Map(func(_ int, s *goquery.Selection) string { return strings.TrimSpace(s.Text()) })...)
		path = a.doc.Find("a[rel=next]").AttrOr("href", "")
		if path != "" {
			other := strings.Replace(path, "Grep", "Read", 1)
			require.Equal(t, http.StatusBadRequest, eve.get(other).status, "a cursor of another filter")
		}
	}
	require.Len(t, seen, 60)
	require.Equal(t, "file-119", seen[0])
	require.Equal(t, "file-1", seen[59])

	for _, bad := range []string{"?x=1", "?tool=a&tool=b", "?state=nope", "?before=1", "?before=%00", "?tool=%zz"} {
		require.Equal(t, http.StatusBadRequest, eve.get("/history"+bad).status, bad)
	}
	for _, bad := range []string{
		"/sessions?before=x", "/session?id=s1&after=x", "/call?session=s1&batch=b1&index=x", "/call/text?session=s1&batch=b1&index=1",
		"/inbox?x=1", "/call/text?of=arguments&session=s1&batch=b1&index=1&from=-1", "/call/text?of=arguments&session=s1&batch=b1&index=1&from=9999",
	} {
		require.Equal(t, http.StatusBadRequest, eve.get(bad).status, bad)
	}
	for _, gone := range []string{"/session?id=nope", "/call?session=s1&batch=b1&index=999", "/requests/nope", "/nope"} {
		require.Equal(t, http.StatusNotFound, eve.get(gone).status, gone)
	}
}

func TestASessionTellsEveryRecordInWords(t *testing.T) {
	w := newWorld(t, nil)
	for _, typ := range events.AllTypes() {
		w.log.Append(eventstest.Sample(typ))
	}
	w.log.AppendRaw(eventstest.Session, []byte(`{"specversion":"1.0","id":"x","source":"n","type":"weather\u202e","time":"2026-11-30T12:03:00.000000Z",`+
		`"dataschema":"/schemas/weather/1","sessionid":"session-1","partitionkey":"p","sequence":"9","data":{}}`))
	w.settle()
	a := w.as("eve").get("/session?id=" + eventstest.Session)
	require.Equal(t, http.StatusOK, a.status)
	steps := a.doc.Find(".steps > li")
	require.Equal(t, len(events.AllTypes())+1, steps.Length())
	steps.Each(func(i int, s *goquery.Selection) {
		words := strings.TrimSpace(s.Find(".what").Text())
		require.Greater(t, len(words), 10, "record %d", i)
		require.NotContains(t, words, "%!", "record %d", i)
	})
	require.Contains(t, steps.Last().Text(), "weather⟦U+202E⟧ that this build cannot read")
	require.Contains(t, a.text(".steps"), "No effect: there is no such thing in this session")
}

func TestErasedTextIsSaidToBeGoneAndNothingCanBeDecided(t *testing.T) {
	w := newWorld(t, nil)
	call, q := w.ask("s1", "Write", `{"path":"secret"}`)
	w.log.Erase(call.Event)
	ben := w.as("ben")
	a := ben.get("/requests/" + q.RequestID)
	require.Contains(t, a.text(".arguments"), "erased from the record")
	require.Zero(t, a.doc.Find("form.decide").Length())
	require.Equal(t, http.StatusGone, ben.get("/requests/"+q.RequestID+"/download").status)
	require.Equal(t, http.StatusOK, ben.get("/history").status)
}

// A call by which the watch saw a promise break is marked wherever it is listed.
func TestWhatTheWatchFoundIsMarked(t *testing.T) { // M42
	w := newWorld(t, nil)
	call, q := w.ask("s1", "Bash", `{"command":"rm -rf /"}`)
	w.ask("s2", "Write", `{}`)
	w.log.Start(call, &q, "no decision at all")
	w.log.Result(call, events.StatusOK, events.CauseHuman, "gone")
	w.settle()
	eve := w.as("eve")
	history := eve.get("/history")
	require.Equal(t, []string{"Waiting", "Waiting", "Broke a promise"}, history.doc.Find(".chips .chip").Map(func(_ int, s *goquery.Selection) string {
		return strings.TrimSpace(s.Text())
	}))
	link := history.doc.Find("tbody tr").Last().Find("td[data-label=Tool] a").AttrOr("href", "")
	page := eve.get(link)
	require.Contains(t, page.text(".note.bad"), "The watch found that a promise broke here.")
	record := page.doc.Find(".note.bad a").AttrOr("href", "")
	require.Contains(t, eve.get(record).text("h2"), "tool_started")
	require.Regexp(t, `^[12] violations?$`, cellsOf(eve.get("/sessions"), 1)[2])
	require.Equal(t, "In order", cellsOf(eve.get("/sessions"), 0)[2])
	require.Equal(t, 1, eve.get("/sessions?watch=violations").doc.Find("tbody tr").Length())
	require.Equal(t, "Watch violations found", chipsIn(eve.get("/sessions?watch=violations")))
}

// What a gate does not enforce says so in the list.
func TestAListSaysWhoseWordItIs(t *testing.T) {
	w := newWorld(t, nil)
	for i, e := range []events.Enforcement{events.Enforced, events.Cooperative, events.Observed} {
		sample, ok := eventstest.Sample(events.TypeToolCall).Data.(*events.ToolCall)
		require.True(t, ok)
		call := *sample
		call.CallKey, call.RunID, call.Enforcement = events.CallKey{BatchID: "b1", Index: i}, "", e
		draft := eventstest.Sample(events.TypeToolCall)
		draft.Data = &call
		w.log.Append(draft)
	}
	w.settle()
	var marks []string
	w.as("eve").get("/history").doc.Find("tbody tr").Each(func(_ int, s *goquery.Selection) {
		marks = append(marks, strings.Join(s.Find(".chip").Map(func(_ int, c *goquery.Selection) string { return strings.TrimSpace(c.Text()) }), "|"))
	})
	require.Equal(t, []string{"Asked for|Seen from outside", "Asked for|By the caller's word", "Asked for"}, marks)
}

package ui_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// Numbers are shown, changed and exported as they are written, whatever a
// program would make of them.
func TestNumbersAreShownAsTheyAreWritten(t *testing.T) {
	for _, n := range []string{"9007199254740993", "-0", "1e400", "-1E-400", "0.1000", "1.0", "18446744073709551616", "123456789012345678901234567890.5e+3"} {
		text := `{"n":` + n + `}`
		_, ben, q, a := requestOf(t, shownCall{ToolName: "Bash", Arguments: text})
		require.Contains(t, a.text(".arguments pre"), `"n": `+n, n)
		form := a.fields("form.decide")
		require.Contains(t, ben.get("/requests/"+q.RequestID+"?change=1").text("textarea[name=arguments]"), n)
		form.Set("arguments", `{"n":`+n+`,"m":`+n+`}`)
		preview := ben.post("/requests/"+q.RequestID+"/change", form)
		require.Equal(t, http.StatusOK, preview.status, n)
		require.Contains(t, preview.text("main"), n)
		rows, _ := readNDJSON(t, ben.export("/history/export", "ndjson").body)
		require.Equal(t, text, rows[0].Arguments.Text)
	}
}

// Times that no clock shows, or that most programs read wrongly.
func TestTimesAtTheEdges(t *testing.T) {
	w := newWorld(t, nil)
	for _, at := range []time.Time{
		time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC), time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC),
	} {
		w.log.SetNow(at)
		session := at.Format("2006")
		run := w.log.Run(session, "carla", "go")
		call := w.log.Propose(session, run, "b1", 0, "Read", `{}`, events.EffectAllow)
		w.log.Start(call, nil, "")
		w.log.Result(call, events.StatusOK, events.CausePolicy, "x")
	}
	w.settle()
	eve := w.as("eve")
	eve.crawl(t, maxHostile, append(lists(), "/access")...)
	for query, want := range map[string]int{
		"from=1970-01-01&to=1970-01-01": 1, "to=1970-01-02": 1, "from=9999-12-31": 1, "to=9999-12-31": 3, "from=2026-10-25T02:30:00%2B02:00&to=2026-10-25T02:30:00%2B01:00": 0,
		"from=2026-10-25T02:30:00%2B01:00&to=2026-10-26": 1,
	} {
		a := eve.get("/history?" + query)
		require.Equal(t, http.StatusOK, a.status, query)
		require.Equal(t, want, a.doc.Find("tbody tr").Length(), query)
	}
	for _, from := range []string{
		"2016-12-31T23:59:60Z", "1969-12-31", "10000-01-01", "0000-00-00", "2026-02-30", "2026-11-30T24:00", "2026-11-30T14:05:06%2B99:00", "99999d", "-1h", "1e3h", "now",
	} {
		require.Equal(t, http.StatusBadRequest, eve.get("/history?from="+from).status, from)
	}
}

// Texts as large as the log takes, in arguments and results of calls that wait
// and that ran: no page is heavy or slow for them.
func TestHeavyTextsOnEveryPage(t *testing.T) {
	var keys strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&keys, `,"key%d":{"a":[%d,"\u202e"]}`, i, i)
	}
	for name, text := range map[string]string{
		"9,000 levels":     strings.Repeat(`{"a":[`, 4500) + "1" + strings.Repeat("]}", 4500),
		"3,000 keys":       "{" + keys.String()[1:] + "}",
		"200 KB on a line": `{"command":"` + strings.Repeat("x", 200_000) + `"}`,
		"700 KB of lines":  `{"content":"` + strings.Repeat(`a\n`, 230_000) + `"}`,
		"bytes":            strings.Repeat("\xff\x00\xc0\u202e", 80_000),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			call, q := w.ask("ran", "Write", text)
			w.log.Start(call, &q, w.log.Decide(q, w.log.Person("p-ben", "Ben", "reviewer"), events.VerdictApprove, text[:min(len(text), 20_000)]))
			w.log.Result(call, events.StatusOK, events.CauseHuman, text)
			_, q = w.ask("waits", "Write", strings.Replace(text, "a", "b", 1))
			for _, list := range append(lists(), "/history?q=key1", "/history?q=xxx") {
				if list != "/inbox" { // it shows a request whole
					w.as("ben").look(t, list, 60<<10)
				}
			}
			w.as("ben").crawl(t, maxPage, "/inbox", "/requests/"+q.RequestID+"?change=1", "/history", "/sessions")
		})
	}
}

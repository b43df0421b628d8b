package ui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// found are the places and marked texts that a search gives.
func found(a answer) []string {
	return a.doc.Find("tbody tr").Map(func(_ int, s *goquery.Selection) string {
		return strings.Join(strings.Fields(s.Find(".in").Text()), " ") + " " + s.Find("mark").Text()
	})
}

func TestASearchSaysWhereItFound(t *testing.T) {
	w := newWorld(t, nil)
	w.lists()
	eve := w.as("eve")
	for query, want := range map[string][]string{
		"LEGACY.sql":              {"In the arguments: legacy.sql", "In the arguments: legacy.sql"},
		"drop table":              {"In the arguments: drop"},
		"exit status":             {"In the result: exit"},
		"not on a Friday":         {"In a comment: not"},
		"then tell the team":      {"In the query of the run: then"},
		"mail__send all@example":  {"In the arguments: all@example"},
		"Deploy staging":          {"In the arguments: staging"},
		"I will do it":            {"In the model's message: I", "In the model's message: I"},
		"nothing of this kind":    nil,
		"payment.yaml":            {"In the arguments: payment.yaml"},
		"rm -rf ./build && psql ": {"In the arguments: rm"},
	} {
		a := eve.get("/history?q=" + url.QueryEscape(query))
		require.Equal(t, http.StatusOK, a.status, query)
		requireClean(t, a)
		require.Len(t, found(a), len(want), query)
		for i, f := range found(a) {
			require.Equal(t, strings.ToLower(want[i]), strings.ToLower(f), query)
		}
		require.Equal(t, strings.TrimSpace(query), strings.TrimSpace(a.doc.Find("#search").AttrOr("value", "")))
	}
}

// Whatever somebody looks for is a text: no sign in it has a meaning, and the
// page shows none of it as anything but text.
func TestASearchTextIsData(t *testing.T) {
	w := newWorld(t, nil)
	hostile := `say "hi" * AND NEAR(x) 删除文件 😀 <script>alert(1)</script> {path} ^col:value -not 'x' %_`
	run := w.log.Run("s1", "carla", "go")
	w.log.Propose("s1", run, "b1", 0, "Read", hostile, events.EffectAllow)
	w.log.Propose("s1", run, "b1", 1, "Read", "nothing of it", events.EffectAllow)
	w.settle()
	eve := w.as("eve")
	for query, want := range map[string]int{
		`"`: 1, `"hi"`: 1, `*`: 1, `"hi`: 1, `hi" *`: 1, "AND": 1, "NEAR(": 1, "NEAR(x)": 1, "删除": 1, "除文": 1, "删": 1, "😀": 1, "<script>": 1, "^col:value": 1,
		"-not": 1, "'": 1, "%_": 1, "of OR hi": 0, "' OR 1=1 --": 0, "nothing": 1, "\x00": 0, "\u202e": 0, "(((": 0, `""""""`: 0, "arguments:hi": 0, "rowid": 0,
		strings.Repeat("a", 256): 0, strings.Repeat("é", 128): 0,
	} {
		a := eve.get("/history?q=" + url.QueryEscape(query))
		require.Equal(t, http.StatusOK, a.status, "%q: %s", query, a.text("main"))
		requireClean(t, a)
		require.Len(t, found(a), want, "%q", query)
	}
	for query, says := range map[string]string{
		strings.Repeat("a", 257):           "The parameter q: it has 257 bytes; at most 256 are allowed",
		strings.Repeat("\" OR ", 2000):     "The parameter q: it has 10000 bytes",
		strings.Repeat("ab ", 17):          "it has 17 words, at most 16 are searched for",
		"\xff\xfe":                         "The parameter q: it is not UTF-8",
		strings.Repeat("😀", 64) + "😀":      "The parameter q: it has 260 bytes",
		strings.Repeat("x\u00a0", 17) + "": "it has 17 words",
	} {
		a := eve.get("/history?q=" + url.QueryEscape(query))
		require.Equal(t, http.StatusBadRequest, a.status, "%q", query)
		require.Contains(t, a.text("main"), says)
	}
}

// A search whose work for one page is done says how far it looked, and goes on.
func TestASearchThatStoppedGoesOn(t *testing.T) {
	w := newWorld(t, nil)
	run := w.log.Run("s1", "carla", "go")
	w.log.Propose("s1", run, "b1", 0, "Read", `{"path":"abcdef"}`, events.EffectAllow)
	for i := range 1600 { // all that an index of three letters knows, and not the word
		w.log.Propose("s1", run, "b2", i, "Read", `{"path":"abcd bcde cdef"}`, events.EffectAllow)
	}
	w.settle()
	eve := w.as("eve")
	a := eve.get("/history?q=abcdef")
	require.Contains(t, a.text("main"), "Nothing found so far.")
	require.Regexp(t, `Looked back to 2026-11-30 14:00:0\d UTC, and found no more so far\.`, a.text(".looked"))
	for pages := 1; a.doc.Find(".looked").Length() > 0; pages++ {
		require.Less(t, pages, 40)
		a = eve.get(a.doc.Find(".looked a").AttrOr("href", ""))
	}
	require.Equal(t, []string{"In the arguments: abcdef"}, found(a))
	rows, _ := readNDJSON(t, eve.export("/history/export?q=abcdef", "ndjson").body)
	require.Len(t, rows, 1, "an export looks to the end")
}

// Who searches finds what they may see.
func TestASearchFindsWhatItsReaderMaySee(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(3) // of another, who asked nobody
	w.ask("s2", "Write", `{"path":"file-9"}`)
	require.Len(t, found(w.as("eve").get("/history?q=file")), 4)
	require.Len(t, found(w.as("ben").get("/history?q=file")), 1)
}

// A list's HTML stays under 60 KB, and within reason whatever stands in its rows.
func TestListsStayLight(t *testing.T) {
	ordinary, hostile := newWorld(t, nil), newWorld(t, nil)
	for i := range 60 {
		id := fmt.Sprintf("%012d", i)
		run := ordinary.log.Run("6dd8cdaa-8213-40f8-85e7-"+id, ordinary.log.Person("p-"+id, "Aleksandra Petrova "+id, "agent").Person, "Please look for the needle in all of the files, and tell me where it is")
		ordinary.log.Protected("6dd8cdaa-8213-40f8-85e7-"+id, run, "01a22f73-cc61-7a92-bb3b-"+id, 0, "Bash", `{"command":"grep -rn needle . | head -50 | sort | uniq -c | sort -rn > out-`+itoa(i)+`.txt"}`)
		session := "s" + itoa(i) + strings.Repeat("\u202e", 80)
		run = hostile.log.Run(session, "carla", strings.Repeat("needle \u200b", 200))
		hostile.log.Propose(session, run, "b1", 0, strings.Repeat("\u202ex", 40), strings.Repeat("<\u200b>", 20)+" needle "+strings.Repeat("<\u202e", 400), events.EffectAllow)
	}
	for w, most := range map[*world]int{ordinary: 60_000, hostile: 128_000} {
		w.settle()
		eve := w.as("eve")
		for _, path := range []string{"/history", "/history?q=needle", "/sessions", "/access"} {
			a := eve.get(path)
			require.Equal(t, http.StatusOK, a.status)
			require.Less(t, len(a.body), most, path)
			requireClean(t, a)
		}
	}
	require.Contains(t, hostile.as("eve").get("/history").text("td.sum"), "…", "what is cut says so")
}

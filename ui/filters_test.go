package ui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// rowsOf are the rows of a list, each as the place of its record.
func rowsOf(a answer) []string {
	return a.doc.Find("tbody tr").Map(func(_ int, s *goquery.Selection) string {
		return strings.TrimSpace(s.Find("td[data-label=Position]").Text())
	})
}

// chipsIn are the filters that a page says are on.
func chipsIn(a answer) string {
	return strings.Join(a.doc.Find("a.filter").Map(func(_ int, s *goquery.Selection) string {
		return strings.TrimPrefix(strings.Join(strings.Fields(s.Text()), " "), "Remove the filter ")
	}), "; ")
}

// calls writes n calls of two tools, the agents of which take turns.
func (w *world) calls(n int) {
	w.t.Helper()
	run := w.log.Run("s1", "carla", "go")
	for i := range n {
		w.log.Propose("s1", run, "b1", i, []string{"Read", "Grep"}[i%2], fmt.Sprintf(`{"path":"file-%d"}`, i), events.EffectAllow)
	}
	w.settle()
}

func TestU25AnAddressIsReadStrictly(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(60)
	eve := w.as("eve")
	cursor := url.QueryEscape(cursorOf(t, eve, "/history"))
	for _, c := range []struct{ path, says string }{
		{"/history?x=1", "The parameter x: this page does not know it; it knows q, state, tool,"},
		{"/history?tool=a&tool=b", "The parameter tool: it is there 2 times"},
		{"/history?tool=%zz", "has a part that this page does not know"},
		{"/history?tool=%ff", "The parameter tool: it is not UTF-8"},
		{"/history?agent=" + strings.Repeat("a", 257), "The parameter agent: it has 257 bytes; at most 256 are allowed"},
		{"/history?q=" + strings.Repeat("a", 10_000), "The parameter q: it has 10000 bytes; at most 256 are allowed"},
		{"/history?state=nope", "The parameter state: nope is none of, or twice among, waiting,proposed,decided,running,ok,"},
		{"/history?state=ok,", "The parameter state:"},
		{"/history?state=ok,ok", "twice among"},
		{"/history?from=yesterday", "The parameter from: yesterday is no time; allowed is a day (2026-11-30)"},
		{"/history?from=2026-13-01", "The parameter from:"},
		{"/history?from=2026-11-30T14:00:00+01:00", "The parameter from:"}, // a plus is a space in an address
		{"/history?from=0h", "The parameter from:"},
		{"/history?from=99999d", "The parameter from:"},
		{"/history?to=-1h", "The parameter to:"},
		{"/history?from=2026-11-30&to=2026-11-29", "The parameter to: it ends at 2026-11-30 00:00:00 UTC, which is not after its beginning"},
		{"/history?before=1", "The cursor is not one of this list"},
		{"/history?before=%00", "The cursor is not one of this list"},
		{"/history?tool=Grep&before=" + cursor, "The cursor is not one of this list"},
		{"/history?tool=Grep&after=" + cursor, "The cursor is not one of this list"},
		{"/history?before=" + cursor + "&after=" + cursor, "The parameter after: give before or after, not both"},
		{"/sessions?state=done", "The parameter state: done is none of waiting, running, idle, blocked"},
		{"/sessions?watch=all", "The parameter watch: all is none of violations, unverified"},
		{"/sessions?tool=Bash", "The parameter tool: this page does not know it"},
		{"/sessions?before=x", "The cursor is not one of this list"},
		{"/access?outcome=maybe", "The parameter outcome: maybe is none of ok, refused"},
		{"/access?before=" + cursor, "The cursor is not one of this list"},
		{"/at/0/1?x=1", "The parameter x"},
	} {
		a := eve.get(c.path)
		require.Equal(t, http.StatusBadRequest, a.status, c.path)
		require.Contains(t, a.text("main"), c.says, c.path)
		requireClean(t, a)
	}
}

// cursorOf is the cursor of the next page of a list.
func cursorOf(t *testing.T, p *person, path string) string {
	t.Helper()
	next, err := url.Parse(p.get(path).doc.Find("a[rel=next]").AttrOr("href", ""))
	require.NoError(t, err)
	require.NotEmpty(t, next.Query().Get("before"))
	return next.Query().Get("before")
}

// Times are told as what they mean: the log's clock stands at 14:00.
func TestTimesOfAFilter(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(2)
	eve := w.as("eve")
	for query, want := range map[string]string{
		"from=2026-11-30":                     "From 2026-11-30 00:00:00 UTC",
		"from=today":                          "From 2026-11-30 00:00:00 UTC",
		"from=24h":                            "From 2026-11-29 14:00:00 UTC",
		"from=30m":                            "From 2026-11-30 13:30:00 UTC",
		"from=7d":                             "From 2026-11-23 14:00:00 UTC",
		"from=2026-11-30T14:05":               "From 2026-11-30 14:05:00 UTC",
		"from=2026-11-30T14:05:06":            "From 2026-11-30 14:05:06 UTC",
		"from=2026-11-30T14:05:06Z":           "From 2026-11-30 14:05:06 UTC",
		"from=2026-11-30T14:05:06%2B02:00":    "From 2026-11-30 12:05:06 UTC",
		"to=2026-11-30":                       "Before 2026-12-01 00:00:00 UTC", // the day is in it
		"to=today":                            "Before 2026-12-01 00:00:00 UTC",
		"to=2026-11-30T14:05":                 "Before 2026-11-30 14:05:00 UTC",
		"from=2026-11-29&to=2026-11-29":       "From 2026-11-29 00:00:00 UTC; Before 2026-11-30 00:00:00 UTC",
		"from=&to=&tool=&q=&state=&session=":  "",
		"from=2026-11-30T14:05:06.123456789Z": "From 2026-11-30 14:05:06 UTC",
	} {
		a := eve.get("/history?" + query)
		require.Equal(t, http.StatusOK, a.status, query)
		require.Equal(t, want, chipsIn(a), query)
	}
}

func TestAPageInTheMiddleLeadsBothWays(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(110)
	eve := w.as("eve")
	first := eve.get("/history")
	second := eve.get(first.doc.Find("a[rel=next]").AttrOr("href", ""))
	third := eve.get(second.doc.Find("a[rel=next]").AttrOr("href", ""))
	require.Len(t, rowsOf(second), 40)
	require.Len(t, rowsOf(third), 30)
	require.Zero(t, third.doc.Find("a[rel=next]").Length())
	require.Zero(t, first.doc.Find("a[rel=prev]").Length())
	back := eve.get(third.doc.Find("a[rel=prev]").AttrOr("href", ""))
	require.Equal(t, rowsOf(second), rowsOf(back))
	again := eve.get(back.doc.Find("a[rel=next]").AttrOr("href", ""))
	require.Equal(t, rowsOf(third), rowsOf(again))
	top := eve.get(back.doc.Find("a[rel=prev]").AttrOr("href", ""))
	require.Equal(t, rowsOf(first), rowsOf(top))
	above := eve.get(top.doc.Find("a[rel=prev]").AttrOr("href", ""))
	require.Empty(t, rowsOf(above))
	require.Contains(t, above.text("main"), "Nothing there.")
	require.Equal(t, "/history", above.doc.Find(".pager a").First().AttrOr("href", ""))
}

// A copied address gives the same rows, also where its times count from now: a
// page that goes on from another keeps the times of that one.
func TestU25ACopiedAddressGivesTheSameRows(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(120)
	eve, dana := w.as("eve"), w.as("eve")
	for _, path := range []string{"/history?tool=Grep&from=24h", "/history?session=s1", "/history?state=proposed,waiting&from=today&to=today"} {
		first := eve.get(path)
		require.Len(t, rowsOf(first), 40, path)
		require.Equal(t, rowsOf(first), rowsOf(dana.get(path)), path)
		next := first.doc.Find("a[rel=next]").AttrOr("href", "")
		second := rowsOf(eve.get(next))
		require.NotEmpty(t, second)
		w.log.Advance(3 * time.Minute)
		require.Equal(t, second, rowsOf(dana.get(next)), next)
	}
}

// Without JavaScript: the filter's form, a filter's removal, the search.
func TestU24FiltersAreForms(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(60)
	eve := w.as("eve")
	a := eve.get("/history?" + formValues(eve.get("/history?tool=Grep&session=s1"), ".filters", "from", "24h").Encode())
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, "Tool Grep; Session s1; From 2026-11-29 14:00:00 UTC", chipsIn(a))
	require.Len(t, rowsOf(a), 30)
	removed := eve.get(a.doc.Find("a.filter").First().AttrOr("href", ""))
	require.Equal(t, "Session s1; From 2026-11-29 14:00:00 UTC", chipsIn(removed))
	require.Empty(t, chipsIn(eve.get(a.doc.Find(".active .all").AttrOr("href", ""))))

	for _, page := range []string{"/inbox", "/history", "/sessions", "/access", "/at/0/1"} {
		search := eve.get(page).doc.Find("form[role=search]")
		require.Equal(t, 1, search.Length(), page)
		require.Equal(t, "get", search.AttrOr("method", ""))
		require.Equal(t, "/history", search.AttrOr("action", ""))
	}
	// A search narrows what is filtered already.
	search := formValues(a, "form[role=search]", "q", "file-1")
	require.Equal(t, "Grep", search.Get("tool"))
	require.Contains(t, chipsIn(eve.get("/history?"+search.Encode())), "Text file-1; Tool Grep; ")
}

// formValues are what a browser sends for a form, with one field filled in.
func formValues(a answer, form, name, value string) url.Values {
	q := url.Values{}
	a.doc.Find(form + " input").Each(func(_ int, s *goquery.Selection) { q.Add(s.AttrOr("name", ""), s.AttrOr("value", "")) })
	a.doc.Find(form + " select").Each(func(_ int, s *goquery.Selection) {
		chosen := s.Find("option[selected]")
		q.Add(s.AttrOr("name", ""), chosen.AttrOr("value", chosen.Text())) // as browsers do
	})
	q.Set(name, value)
	return q
}

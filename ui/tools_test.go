package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// rows are the rows of a table in words, by the labels of their cells.
func rows(a answer, selector string, labels ...string) [][]string {
	var out [][]string
	a.doc.Find(selector + " tbody tr").Each(func(_ int, row *goquery.Selection) {
		var cells []string
		if head := row.Find("th"); head.Length() > 0 {
			cells = append(cells, strings.Join(strings.Fields(head.Text()), " "))
		}
		for _, l := range labels {
			cells = append(cells, strings.Join(strings.Fields(row.Find("td[data-label='"+l+"']").Text()), " "))
		}
		out = append(out, cells)
	})
	return out
}

func TestToolsShowWhatPolicySaysAndWhatCameOfThem(t *testing.T) {
	w := newWorld(t, nil)
	richStory(w)
	w.define(events.DefineTool, "Never", toolText("Never", "Is not called."))
	w.settle()
	a := w.as("ben").get("/tools")
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, [][]string{
		{"Bash built in Changed, not accepted", "People decide required-tools", "26", "21 ran, 1 failed or not run, 3 expired", "100 %", "100 %"},
		{"Glob built in", "Free default", "24", "24 ran", "0 %", "–"},
		{"Deploy built in", "Denied denied-tools", "1", "1 declined or denied", "0 %", "–"},
		{"Read built in", "Free default", "1", "1 ran", "0 %", "–"},
		{"Write built in", "People decide required-tools", "1", "1 declined or denied", "100 %", "0 %"},
		{"Never built in", "Free default", "0", "none", "–", "–"},
	}, rows(a, ".bars", "Now", "Calls", "How they ended", "Asked", "Approved"))

	w.define(events.DefineTool, "Glob", toolText("Glob", "Is another now."))
	w.settle()
	row := rows(w.as("ben").get("/tools"), ".bars", "Now")[1]
	require.Contains(t, row[0], "Glob built in Changed, not accepted")
	require.Contains(t, row[1], "People decide", "what is free asks all the same")
	require.Equal(t, "never", rows(a, ".bars", "Last called")[5][1])
	require.Equal(t, http.StatusBadRequest, w.as("ben").get("/tools?from=x").status)
	require.Empty(t, rows(w.as("ben").get("/tools?from=100"), ".bars", "Now"))
}

func TestAToolShowsItsDefinitionAndWhenItChanged(t *testing.T) {
	w := newWorld(t, nil)
	richStory(w)
	eve := w.as("eve")
	a := eve.get("/tools/view?name=Bash")
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, "The policy says ask (rule required-tools): required-tools names Bash.", a.text(".head .why"))
	require.Contains(t, a.text(".theirs pre"), "Runs a command, now with more care.")
	require.Contains(t, a.text(".theirs pre"), `"source": "builtin-tools"`)
	require.Len(t, rows(a, "[aria-label^=Definitions]", "Position"), 2)
	require.Equal(t, "/history?tool=Bash", a.doc.Find("main a.btn").AttrOr("href", ""))
	require.Equal(t, http.StatusNotFound, eve.get("/tools/view?name=Nothing").status)
	require.Equal(t, http.StatusBadRequest, eve.get("/tools/view?name=Bash&x=1").status)
}

func TestToolNamesAreAnything(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"Bash<svg/onload=alert(2)>", "Re\u202ead", "a&b=c?#%", "名前", "Ваsh", strings.Repeat("n", 256)} {
		w.define(events.DefineTool, name, toolText(name, "</script><script>alert(3)</script>\u200b"))
	}
	w.define(events.DefineTool, "no JSON", "\xff\xfe{")
	w.settle()
	ben := w.as("ben")
	list := ben.get("/tools")
	requireClean(t, list)
	links := list.doc.Find(".bars th a")
	require.Equal(t, 7, links.Length())
	links.Each(func(_ int, s *goquery.Selection) {
		page := ben.get(s.AttrOr("href", ""))
		require.Equal(t, http.StatusOK, page.status, s.Text())
		requireClean(t, page)
	})
	require.Contains(t, ben.get("/tools/view?"+url.Values{"name": {"Ваsh"}}.Encode()).text(".note"), "letters")
}

func TestWithoutPolicyOrToolsThePagesSaySo(t *testing.T) {
	w := newWorld(t, nil)
	a := w.as("ben").get("/tools")
	require.Contains(t, a.text("main"), "No policy is on the record yet")
	require.Contains(t, a.text("main"), "No tool is defined yet, and none was called.")
}

package ui_test

import (
	"net/http"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Filters are folded away where they would take most of a narrow window.
func TestFiltersAreFoldedWhereAWindowIsNarrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.calls(3)
	ctx, complaints := w.browser(t, "eve")
	const seen = `document.querySelector(".filters select").checkVisibility({contentVisibilityAuto: true})`
	for path, words := range map[string]string{
		"/history": "Filters", "/history?tool=Grep&from=24h": "Filters, 2 on", "/access?outcome=ok": "Filters, 1 on",
	} {
		do(t, ctx, chromedp.EmulateViewport(320, 800), chromedp.Navigate(w.server.URL+path))
		require.False(t, eval[bool](t, ctx, seen), path)
		require.Equal(t, words, eval[string](t, ctx, `document.querySelector(".fold > summary").innerText`))
		do(t, ctx, chromedp.Click(".fold > summary"))
		require.True(t, eval[bool](t, ctx, seen), path)
		do(t, ctx, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(w.server.URL+path))
		require.True(t, eval[bool](t, ctx, seen), "where there is room, nothing is folded: %s", path)
		require.Equal(t, "none", eval[string](t, ctx, `getComputedStyle(document.querySelector(".fold > summary")).display`))
	}
	require.Empty(t, complaints())
}

// Each drawing that a page refers to stands in it, once.
func TestIconsHaveTheirDrawings(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	eve := w.as("eve")
	for _, path := range []string{"/inbox", "/requests/" + q.RequestID, "/history?tool=Bash", "/sessions", "/session?id=s1", "/tools", "/insights", "/access", "/system", "/nothing"} {
		a := eve.get(path)
		require.Less(t, a.status, http.StatusInternalServerError)
		uses := a.doc.Find("svg.i use")
		require.NotZero(t, uses.Length(), path)
		uses.Each(func(_ int, s *goquery.Selection) {
			require.Equal(t, 1, a.doc.Find("symbol"+s.AttrOr("href", "")).Length(), "%s: %s", path, s.AttrOr("href", ""))
		})
	}
}

package ui_test

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/ui"
)

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// story writes a world with one of everything.
func story(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t, func(o *ui.Options) { o.Policies = holding() })
	call, done := w.ask("s1", "Write", `{"path":"a","content":"x\ny"}`)
	changed, decision := w.log.Modify(done, w.log.Person("ben", "Ben", "reviewer"), `{"path":"b","content":"x"}`)
	w.log.Start(call, &changed, decision)
	w.log.Result(call, events.StatusOK, events.CauseHuman, "wrote it")
	_, q := w.ask("s 2/&?", "Bash", `{"command":"ls"}`)
	for _, typ := range events.AllTypes() {
		w.log.Append(eventstest.Sample(typ))
	}
	w.settle()
	return w, q.RequestID
}

func TestEveryLinkOfEveryPageIsGood(t *testing.T) {
	t.Parallel()
	w, _ := story(t)
	for _, name := range []string{"ben", "eve"} {
		p := w.as(name)
		w.settle()
		before := w.log.Len()
		seen, todo := map[string]bool{}, []string{"/", "/inbox", "/history", "/sessions", "/sign-in?link=x"}
		for len(todo) > 0 {
			path := todo[0]
			todo = todo[1:]
			if seen[path] || ofReading(path, before) {
				continue
			}
			seen[path] = true
			a := p.get(path)
			require.Less(t, a.status, 400, "%s as %s: %s", path, name, a.text("main"))
			checkPage(t, path, a)
			a.doc.Find("a[href], link[href], script[src]").Each(func(_ int, s *goquery.Selection) {
				todo = append(todo, strings.Split(s.AttrOr("href", s.AttrOr("src", "")), "#")[0])
			})
		}
		require.Greater(t, len(seen), 15)
		w.settle()
		requireOnlyAccess(t, w, before)
	}
}

// ofReading reports whether a page is of a record that came with the reading, or
// beyond it: each page that is read adds one, so that there would be no end.
func ofReading(path string, before int) bool {
	rest, ok := strings.CutPrefix(path, "/at/0/")
	offset, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(offset)
	return ok && err == nil && n >= before
}

// checkPage holds a page against what every page promises.
func checkPage(t *testing.T, path string, a answer) {
	t.Helper()
	require.Equal(t, []string{policy}, a.header["Content-Security-Policy"], path)
	require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"), path)
	require.Equal(t, "same-origin", a.header.Get("Referrer-Policy"), path)
	require.Equal(t, "same-origin", a.header.Get("Cross-Origin-Opener-Policy"), path)
	if !strings.HasPrefix(path, "/assets/") {
		require.Equal(t, "no-store", a.header.Get("Cache-Control"), path)
	}
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || len(a.body) == 0 {
		return
	}
	inline := a.doc.Find("[style], script:not([src]), style, [onclick], [onload], [onerror], [onsubmit], a[href^='javascript:'], iframe, object, embed, base, meta[http-equiv]")
	require.Zero(t, inline.Length(), path)
	require.Less(t, len(a.body), 60<<10, path)
	if a.doc.Find("html").Length() > 0 && a.status == http.StatusOK {
		require.Equal(t, 1, a.doc.Find("h1").Length(), path)
		require.Equal(t, "en", a.doc.Find("html").AttrOr("lang", ""), path)
		require.NotEmpty(t, a.text("title"), path)
	}
	a.doc.Find("form[method=post] button").Each(func(_ int, s *goquery.Selection) { require.NotEmpty(t, strings.TrimSpace(s.Text()), path) })
	a.doc.Find("input:not([type=hidden]), textarea:not([hidden]), select").Each(func(_ int, s *goquery.Selection) {
		id := s.AttrOr("id", "none")
		labelled := s.AttrOr("aria-label", "") != "" || s.Closest("label").Length() > 0 || a.doc.Find("label[for='"+id+"']").Length() > 0
		require.True(t, labelled, "%s: a field without a label", path)
	})
	ids := map[string]bool{}
	a.doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
		require.False(t, ids[s.AttrOr("id", "")], "%s: id %s twice", path, s.AttrOr("id", ""))
		ids[s.AttrOr("id", "")] = true
	})
}

// requireOnlyAccess: reading changes nothing but the record of who read.
func requireOnlyAccess(t *testing.T, w *world, after int) {
	t.Helper()
	entries, err := w.log.Read(t.Context(), int64(after), 10_000)
	require.NoError(t, err)
	for _, e := range entries {
		env, err := events.DecodeEnvelope(e.Record.Envelope)
		require.NoError(t, err)
		require.Equal(t, events.TypeAccess, env.Type)
	}
}

func TestAssetsAreKeptForEverAndPagesAreNot(t *testing.T) {
	w := newWorld(t, nil)
	p := w.stranger()
	page := p.get("/sign-in")
	sheet := page.doc.Find("link[rel=stylesheet]").AttrOr("href", "")
	require.Regexp(t, `^/assets/app\.[0-9a-f]{12}\.css$`, sheet)
	css := p.get(sheet)
	require.Equal(t, "public, max-age=31536000, immutable", css.header.Get("Cache-Control"))
	require.Contains(t, css.header.Get("Content-Type"), "text/css")
	require.Regexp(t, `url\(inter\.[0-9a-f]{12}\.woff2\)`, css.body)
	require.NotContains(t, css.body, "http")
	require.Equal(t, http.StatusNotFound, p.get("/assets/app.css").status)
	require.Equal(t, http.StatusNotFound, p.get("/assets/..%2fdoc.go").status)
}

func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	w, id := story(t)
	ben := w.as("ben")
	form := ben.get("/requests/" + id).fields("form.decide")
	form.Set("verdict", "approve")
	kind := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	for name, c := range map[string]struct {
		header map[string]string
		want   int
	}{
		"cross-site":         {map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		"same site, foreign": {map[string]string{"Sec-Fetch-Site": "same-site"}, http.StatusForbidden},
		"foreign origin":     {map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden},
		"null origin":        {map[string]string{"Origin": "null"}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			maps.Copy(c.header, kind)
			require.Equal(t, c.want, ben.do(http.MethodPost, "/requests/"+id+"/decide", form, c.header).status)
		})
	}
	require.Zero(t, w.gate.count())
	for _, path := range []string{"/sign-in", "/inbox", "/live", "/assets/x"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+path, nil)
		require.NoError(t, err)
		r.Host = "rebound.example"
		res, err := ben.client.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusMisdirectedRequest, res.StatusCode, path)
	}
}

func TestMethodsOtherThanTheTablesAreRefused(t *testing.T) {
	w, id := story(t)
	ben := w.as("ben")
	require.Equal(t, http.StatusNotFound, ben.get("/requests/"+id+"/decide").status)
	require.Equal(t, http.StatusNotFound, ben.post("/inbox", url.Values{}).status)
	require.Equal(t, http.StatusNotFound, ben.do(http.MethodDelete, "/requests/"+id, nil, nil).status)
	require.Zero(t, w.gate.count())
}

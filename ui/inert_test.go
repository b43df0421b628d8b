package ui_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
)

// unseen are code points that no reader sees, or sees as another.
func unseen(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Me,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800' || r == '\ufffe' || r == '\uffff')
}

// flaws are what a page has in it that it must not have.
func flaws(a answer) []string {
	if strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment; ") && a.header.Get("Content-Type") == "application/octet-stream" {
		return nil // bytes as they are, which no browser shows
	}
	var all []string
	everything, ids := a.body+a.doc.Text(), map[string]bool{}
	a.doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, attr := range s.Nodes[0].Attr {
			everything += attr.Val
			if strings.HasPrefix(attr.Key, "on") || attr.Key == "style" || attr.Key == "srcdoc" || attr.Key == "autofocus" && s.Closest("[data-app], "+signInForm).Length() == 0 {
				all = append(all, "attribute "+attr.Key)
			}
			if attr.Key == "id" && ids[attr.Val] {
				all = append(all, "twice the id "+attr.Val)
			}
			ids[attr.Val] = ids[attr.Val] || attr.Key == "id"
		}
	})
	if i := strings.IndexFunc(everything, unseen); i >= 0 {
		all = append(all, fmt.Sprintf("%q behind %q", everything[i:min(i+4, len(everything))], everything[max(0, i-60):i]))
	}
	if n := a.doc.Find("script:not([data-app]), img, iframe, object, svg[onload], a[href^='javascript:'], form:not([data-app], .who, .filters, " + signInForm + ")").Length(); n > 0 {
		all = append(all, fmt.Sprintf("%d elements of others", n))
	}
	for name, values := range a.header {
		if strings.ContainsFunc(strings.Join(values, ""), func(r rune) bool { return r < ' ' || r > '~' }) {
			all = append(all, "header "+name)
		}
	}
	if strings.Contains(a.body, "<html") && a.doc.Find("h1").Length() != 1 {
		all = append(all, "not one h1")
	}
	return all
}

const signInForm = `form[action="/sign-in"]`

// crawl reads the pages that lead from some, and holds each against what pages
// promise. most is what a page may weigh.
func (p *person) crawl(t *testing.T, most int, todo ...string) (pages int) {
	t.Helper()
	seen, kind := map[string]bool{}, map[string]int{}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		base, _, _ := strings.Cut(path, "?")
		route := base[:min(len(base), 6)]
		if seen[path] || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/docs/") || kind[route] >= mostOfAKind {
			continue // reading adds to what there is to be read
		}
		seen[path] = true
		kind[route]++
		a := p.look(t, path, most)
		a.doc.Find("a[href]").Each(func(_ int, s *goquery.Selection) {
			href, _, _ := strings.Cut(s.AttrOr("href", ""), "#")
			todo = append(todo, href)
		})
	}
	return len(seen)
}

// look reads one page, which must be good, light and soon there: on a machine
// that does other things at the third time. The bound is for what hangs, not a
// measure.
func (p *person) look(t *testing.T, path string, most int) answer {
	t.Helper()
	var a answer
	took := time.Hour
	for try := 0; try < 3 && took > slow*5*time.Second; try++ {
		began := time.Now()
		a = p.get(path)
		took = min(took, time.Since(began))
	}
	if a.status >= http.StatusBadRequest {
		t.Errorf("%s: status %d: %s", path, a.status, a.text("main"))
	}
	if f := flaws(a); len(f) > 0 {
		t.Errorf("%s: %s", path, strings.Join(f, ", "))
	}
	if len(a.body) > most && strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("%s: %d bytes", path, len(a.body))
	}
	if took > slow*5*time.Second {
		t.Errorf("%s: it took %v", path, took)
	}
	return a
}

// mostOfAKind bounds how many pages of one route are read.
const mostOfAKind = 4

// maxHostile is what a page may weigh whose every field is full of what must be
// escaped: the escape of a code point has some 70 bytes.
const maxHostile = 128 << 10

// lists are the pages that lead to all others.
func lists() []string {
	return []string{"/inbox", "/inbox/queue", "/history", "/sessions", "/tools", "/insights", "/system", "/keys"}
}

// Whatever stands in the fields of others, in all of them at once: each page is
// there, none of it acts, and nothing in it is unseen.
func TestVariantsAreInertOnEveryPage(t *testing.T) {
	for i, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			eve, begin := w.as("eve"), idAt(w, w.end())
			w.drown(v.text)
			w.settle()
			ctx, cut := context.WithCancel(t.Context())
			_, frames := eve.listen(ctx, begin, nil)
			for _, f := range upTo(t, frames, w.end()) {
				f.notice(t) // a frame has nothing else in it
			}
			cut()
			require.Greater(t, eve.crawl(t, maxHostile, append(lists(), "/access")...), 25)
			if i%8 == 0 {
				require.Greater(t, w.as("ben").crawl(t, maxHostile, lists()...), 15)
			}
			w.export(t, v)
		})
	}
}

// export holds the exports against what spreadsheets and terminals do.
func (w *world) export(t *testing.T, v variant) {
	t.Helper()
	eve := w.as("eve")
	for _, list := range []string{"/history/export", "/access/export"} {
		for _, format := range []string{"csv", "ndjson"} {
			a := eve.export(list, format)
			require.Equal(t, http.StatusOK, a.status)
			if i := strings.IndexFunc(a.body, func(r rune) bool { return unseen(r) && r != '\r' }); i >= 0 {
				t.Errorf("%s as %s: %q", list, format, a.body[i:min(i+8, len(a.body))])
			}
			if format == "csv" {
				requireCells(t, a.body)
				continue
			}
			for line := range strings.Lines(a.body) {
				require.True(t, strings.HasPrefix(line, "{") && strings.HasSuffix(line, "}\n"), line)
			}
		}
	}
	rows, _ := readNDJSON(t, eve.export("/history/export", "ndjson").body)
	require.Len(t, rows, 4)
	require.Equal(t, v.text, rows[0].Tool, "escapes mean the same")
}

func requireCells(t *testing.T, body string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	require.NoError(t, err)
	for _, row := range rows[:len(rows)-1] {
		for _, cell := range row {
			require.NotContains(t, "=+-@\t\r\n＝＋－＠", string([]rune(cell + "x")[0]), cell)
			require.NotContains(t, cell, "\n")
		}
	}
}

// Every filter and address takes any text: what is none is refused in words.
func TestVariantsInAddresses(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a"}`)
	eve := w.as("eve")
	for _, v := range append(variants(), variant{name: "bytes", text: "\xff\xfe\x80"}, variant{name: "10 KB", text: strings.Repeat("\u202e", 3300)}) {
		e := url.QueryEscape(v.text)
		paths := []string{
			"/call?session=" + e + "&batch=" + e + "&index=0", "/session?id=" + e, "/tools/view?name=" + e, "/requests/" + url.PathEscape(v.text),
			"/at/0/" + url.PathEscape(v.text), "/at/" + url.PathEscape(v.text) + "/0", "/docs/runbooks/" + url.PathEscape(v.text), "/" + url.PathEscape(v.text),
			"/requests/" + q.RequestID + "/text?from=" + e, "/requests/" + q.RequestID + "?" + e + "=1", "/sign-in?link=" + e, "/sign-in?next=" + e, "/sign-in?next=%2F" + e,
			"/history?" + e + "=" + e, "/insights?from=" + e, "/insights?to=" + e, "/inbox?at=" + e, "/inbox/select?request=" + e, "/history?after=" + e,
			"/history?before=" + e, "/system?" + e,
		}
		for _, name := range []string{"q", "state", "tool", "agent", "rule", "decider", "asker", "session", "from", "to"} {
			paths = append(paths, "/history?"+name+"="+e)
		}
		for list, names := range map[string][]string{
			"/sessions": {"asker", "state", "watch", "from", "q"}, "/access": {"person", "action", "outcome", "to"}, "/history/tail": {"tool", "after"},
		} {
			for _, name := range names {
				paths = append(paths, list+"?"+name+"="+e)
			}
		}
		for _, path := range paths {
			a := eve.get(path)
			ok := a.status < 500 && a.status != 0
			f := flaws(a)
			if !ok || len(f) > 0 || len(a.body) > 60<<10 {
				t.Errorf("%s: %.60s: status %d, %d bytes, %v", v.name, path, a.status, len(a.body), f)
			}
		}
	}
}

// A text with something hidden in it is warned of where it is decided, without
// opening anything.
func TestVariantsAreWarnedOf(t *testing.T) {
	for _, v := range variants() {
		if len(v.text) > 200 {
			continue
		}
		w := newWorld(t, nil)
		_, in := w.ask("arguments", "Write", `{"path":`+quotedJSON(v.text)+`}`)
		_, of := w.ask("tool", v.text, `{"path":"a"}`)
		ben := w.as("ben")
		for where, id := range map[string]string{"arguments": in.RequestID, "tool": of.RequestID} {
			a := ben.get("/requests/" + id)
			notes := a.doc.Find(`main .note[role="note"]:not(.mild):not([hidden])`).Not("details *")
			written := where == "arguments" && strings.Contains(v.text, "\r") // JSON writes it as \r, which is seen
			if !v.seen && notes.Length() == 0 && !written {
				t.Errorf("%s in %s: no page warns", v.name, where)
			}
		}
	}
}

package cases

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// page is a page of the console.
type page struct {
	path   string
	header http.Header
	body   []byte
	doc    *goquery.Document
}

// maxPages bounds how far the console is crawled.
const maxPages = 40

// get reads a page. One that is not answered with 200 is an error.
func (p *play) get(ctx context.Context, path, token string) (page, error) {
	res, err := p.node.do(ctx, http.MethodGet, path, token, nil)
	if err != nil {
		return page{}, err
	}
	if res.status != http.StatusOK {
		return page{}, fmt.Errorf("%s was answered with %d", path, res.status)
	}
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(res.body))
	return page{path: path, header: res.header, body: res.body, doc: doc}, err
}

// crawl reads the console as an auditor: the lists, and each request, call and
// session that they lead to.
func (p *play) crawl(ctx context.Context) ([]page, error) {
	if _, err := p.node.question(askViews); err != nil {
		return nil, err
	}
	todo := []string{"/inbox", "/history", "/sessions"}
	var pages []page
	for i := 0; i < len(todo) && i < maxPages; i++ {
		one, err := p.get(ctx, todo[i], auditorToken)
		if err != nil {
			return nil, err
		}
		pages = append(pages, one)
		for _, path := range one.links() {
			if !slices.Contains(todo, path) {
				todo = append(todo, path)
			}
		}
	}
	return pages, nil
}

// links are the pages of single things that a page leads to.
func (p page) links() []string {
	var paths []string
	p.doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		href, _ := a.Attr("href")
		u, err := url.Parse(href)
		if err != nil || u.Host != "" {
			return
		}
		for _, prefix := range []string{"/requests/", "/call", "/session"} {
			if strings.HasPrefix(u.Path, prefix) && !strings.Contains(u.Path, "/download") && u.Path != "/sessions" {
				paths = append(paths, u.RequestURI())
			}
		}
	})
	return paths
}

// text is what a reader of the page has: its text without scripts, with
// whatever is folded.
func (p page) text() string {
	body := p.doc.Find("body").Clone()
	body.Find("script, style").Remove()
	return body.Text()
}

// warned reports whether the page warns of something in what it shows: notes
// that are more than good to know, not folded away.
func (p page) warned() bool {
	return p.doc.Find(`main .note[role="note"]:not(.mild):not([hidden])`).Not("details *").Length() > 0
}

// anywhere reports whether a text stands on one of the pages.
func anywhere(pages []page, text string) bool {
	return slices.ContainsFunc(pages, func(p page) bool { return strings.Contains(p.text(), text) })
}

package ui

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark"

	"github.com/countersign-dev/countersign/internal/auth"
)

// The runbooks are pages for whoever is woken by an alert: one an alert, under
// the name of its file, which the alert's runbook_url has. They are public, as
// their texts are, so that nobody has to sign in first.
//
//go:embed runbooks/*.md
var runbookFiles embed.FS

// runbook is one of them. Its file begins with a heading, the alert's name, and
// a paragraph that begins with its severity: "Critical. A tool ran …".
type runbook struct {
	Slug     string // of the address: /docs/runbooks/SLUG
	Alert    string
	Severity string // "critical" or "warning"
	Summary  string
	body     templ.Component
}

// loadRunbooks renders the pages once, at the start. They are ours, and still
// no HTML in them gets through: goldmark leaves it out.
func loadRunbooks() ([]runbook, error) {
	md := goldmark.New()
	names, err := fs.Glob(runbookFiles, "runbooks/*.md")
	if err != nil {
		return nil, err
	}
	all := make([]runbook, 0, len(names))
	for _, name := range names {
		text, err := runbookFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		b, err := newRunbook(md, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.Slug = strings.TrimSuffix(strings.TrimPrefix(name, "runbooks/"), ".md")
		all = append(all, b)
	}
	return all, nil
}

func newRunbook(md goldmark.Markdown, text string) (runbook, error) {
	heading, rest, _ := strings.Cut(text, "\n\n")
	first, rest, _ := strings.Cut(rest, "\n\n")
	alert, titled := strings.CutPrefix(heading, "# ")
	severity, summary, judged := strings.Cut(first, ". ")
	if !titled || !judged {
		return runbook{}, fmt.Errorf("a runbook begins with a heading and a paragraph that begins with its severity, found %.80q", text)
	}
	var html bytes.Buffer
	if err := md.Convert([]byte(rest), &html); err != nil {
		return runbook{}, err
	}
	return runbook{Alert: alert, Severity: strings.ToLower(severity), Summary: summary, body: templ.Raw(html.String())}, nil
}

// runbookList is the page that leads to all of them.
func (c *Console) runbookList(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	return c.page(w, r, http.StatusOK, c.shell(c.visitor(r), "Runbooks", ""), runbookIndex(c.runbooks))
}

// runbook is the page of one alert.
func (c *Console) runbook(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	i := slices.IndexFunc(c.runbooks, func(b runbook) bool { return b.Slug == r.PathValue("alert") })
	if i < 0 {
		return errNoPage
	}
	b := c.runbooks[i]
	return c.page(w, r, http.StatusOK, c.shell(c.visitor(r), b.Alert, ""), runbookPage(b))
}

// visitor is who reads a page that anybody may read.
func (c *Console) visitor(r *http.Request) auth.Identity {
	who, err := c.opt.Auth.FromRequest(r)
	if err != nil {
		return auth.Identity{}
	}
	return who
}

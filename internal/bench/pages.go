package bench

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui"
)

const (
	viewGoal    = 50 * time.Millisecond // p99, of pages and of searches
	pageSamples = 20                    // of a round
)

// consolePage is a page of the console: by its path, or by the first link of
// such a kind on the page before it.
type consolePage struct{ name, path, link string }

// consolePages are those that people look at. far is a cursor of the history,
// half-way back, and place a record in the middle of the log.
func consolePages(far, place string) []consolePage {
	return []consolePage{
		{"inbox", "/inbox", ""},
		{"request", "", `/requests/[^"/]+`},
		{"history", "/history", ""},
		{"call", "", `/call\?[^"]+`},
		{"history, half-way back", "/history?before=" + far, ""},
		{"history of a tool", "/history?tool=Bash", ""},
		{"history of a tool that failed", "/history?tool=Bash&state=error", ""},
		{"history of a word", "/history?q=timeout", ""},
		{"record", "/at/0/" + place, ""},
		{"sessions", "/sessions", ""},
		{"session", "", `/session\?[^"]+`},
		{"tools", "/tools", ""},
		{"tool", "", `/tools/view\?[^"]+`},
		{"insights", "/insights", ""},
		{"access log", "/access", ""},
		{"system", "/system", ""},
		{"keys", "/keys", ""},
	}
}

// measurePages measures each page, signed in as an auditor who reviews, over
// TCP. Beside it stands a server that answers with as many bytes and does
// nothing else.
func (b *bench) measurePages(ctx context.Context) (rows []Row, err error) {
	l, err := b.built(ctx)
	if err != nil {
		return nil, err
	}
	c, err := l.openConsole(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	pages, err := l.pages(ctx)
	if err != nil {
		return nil, err
	}
	var last []byte
	for _, p := range pages {
		path := p.path
		if path == "" {
			if path, err = linkOn(last, p.link); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		if last, err = c.get(ctx, path); err != nil {
			return nil, err
		}
		row, err := b.measurePage(ctx, c, p.name, path, len(last))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (b *bench) measurePage(ctx context.Context, c *viewConsole, name, path string, size int) (Row, error) {
	pairs, err := b.rounds(pageSamples, func() (ours, limit time.Duration, err error) {
		began := time.Now()
		if _, err := c.get(ctx, path); err != nil {
			return 0, 0, err
		}
		ours, began = time.Since(began), time.Now()
		_, err = c.get(ctx, fmt.Sprintf("/echo?n=%d", size))
		return ours, time.Since(began), err
	})
	if err != nil {
		return Row{}, err
	}
	row := tail(name, pairs)
	row.Note = fmt.Sprintf("%d kB", size/1000)
	return row, nil
}

// tail is the row of a time whose p99 has a goal.
func tail(what string, pairs []pair) Row {
	row := latency(what, 0, pairs, "")
	p99 := median(pairs, func(p pair) time.Duration { return p.ours.p99 })
	row.Goal, row.Met = fmt.Sprintf("p99 < %.0f ms", viewGoal.Seconds()*1e3), p99 < viewGoal
	return row
}

// pages are those of this log.
func (l *viewLog) pages(ctx context.Context) ([]consolePage, error) {
	e, err := l.log.Read(ctx, int64(l.records/2), 1) //nolint:gosec // records of a log
	if err != nil || len(e) == 0 {
		return nil, errors.Join(err, errors.New("the log has no middle"))
	}
	middle := e[0].Record.Position()
	f := projections.Filter{Reader: projections.Everything()}
	return consolePages(f.Cursor(middle), fmt.Sprint(middle.Offset)), nil
}

// linkOn finds the first link of a kind on a page.
func linkOn(page []byte, link string) (string, error) {
	found := regexp.MustCompile(`href="(` + link + `)"`).FindSubmatch(page)
	if found == nil {
		return "", fmt.Errorf("there is no link to %s on the page before it", link)
	}
	return html.UnescapeString(string(found[1])), nil
}

// viewConsole is the console of a log, over TCP, with a server of bare bytes
// beside it.
type viewConsole struct {
	*consoleServer

	auth  *auth.Store
	token string
}

func (l *viewLog) openConsole(ctx context.Context) (*viewConsole, error) {
	plain, hash := auth.NewToken()
	store, err := auth.Open(ctx, auth.Options{
		Path:   filepath.Join(l.dir, "auth.db"),
		Tokens: []auth.Token{{Name: "bench", Person: "bench", SHA256: hash, Roles: []string{auth.RoleReviewer, auth.RoleAuditor}}},
	})
	if err != nil {
		return nil, err
	}
	s, err := serveConsole(ctx, ui.Options{
		Views: l.views, Decider: nobody{}, Recorder: l, Auth: store, Version: "bench", Clock: l.log.Now,
		Declined: func(name, comment string) string { return name + comment },
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &viewConsole{consoleServer: s, auth: store, token: plain}, nil
}

func (c *viewConsole) close() error { return errors.Join(c.consoleServer.close(), c.auth.Close()) }

// get reads a page.
func (c *viewConsole) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.addr+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %.200s", path, resp.Status, page)
	}
	return page, err
}

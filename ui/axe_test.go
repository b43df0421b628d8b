package ui_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// look is a form in which pages are looked at.
type look struct {
	scheme string // light or dark
	width  int64  // of the window, in pixels
}

func (l look) String() string { return fmt.Sprintf("%s-%d", l.scheme, l.width) }

// open goes to a page in this form.
func (l look) open(t *testing.T, ctx context.Context, url string) { //nolint:revive // t goes first in tests
	t.Helper()
	prefer := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
	do(t, ctx, chromedp.EmulateViewport(l.width, 800), prefer, chromedp.Navigate(url))
}

// axeFinds asks axe-core for what a page has against it.
const axeFinds = `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + n.html.slice(0, 160)).join("\n")))`

// requireGood: on the page that is open, axe-core finds nothing, and nothing hangs
// over the edge.
func requireGood(t *testing.T, ctx context.Context, name string) { //nolint:revive // as above
	t.Helper()
	script, err := os.ReadFile(filepath.Join("..", "cmd", "agentd", "testdata", "axe", "axe.min.js"))
	require.NoError(t, err)
	require.True(t, eval[bool](t, ctx, `document.documentElement.scrollWidth <= document.documentElement.clientWidth`), "%s: something hangs over the edge", name)
	eval[bool](t, ctx, string(script)+";true")
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axeFinds, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	require.Empty(t, found, name)
}

// U29, for the pages on the way to a decision: axe-core finds nothing, light and
// wide, dark and narrow, and nothing hangs over the edge.
func TestU29PagesOfADecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	_, old := w.ask("s0", "Write", `{"path":"a.txt","content":"one\ntwo\n"}`)
	w.log.Decide(old, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictApprove, "")
	_, write := w.ask("s1", "Write", `{"path":"a.txt","content":"one\nthree\n"}`)
	_, ls := w.ask("s2", "Bash", "{\"command\":\"ls\u202e\"}")
	_, pwd := w.ask("s3", "Bash", `{"command":"pwd"}`)
	_, ended := w.ask("s4", "Edit", `{"path":"a","old":"x\ny","new":"x\nz"}`)
	form := w.as("ben").get("/requests/" + ended.RequestID).fields("form.decide")
	w.as("ben").post("/requests/"+ended.RequestID+"/decide", url.Values{
		"digest": form["digest"], "render": form["render"], "key": form["key"], "verdict": {"decline"}, "comment": {"no"},
	})
	ctx, _ := w.browser(t, "ben")
	for name, path := range map[string]string{
		"inbox": "/inbox", "request": "/requests/" + write.RequestID, "change": "/requests/" + write.RequestID + "?change=1",
		"hidden": "/requests/" + ls.RequestID, "bulk": selectPath(pwd.RequestID, ls.RequestID), "outcome": "/requests/" + ended.RequestID + "?decided=1",
		"keys": "/keys",
	} {
		for _, l := range []look{{"light", 1280}, {"dark", 320}} {
			l.open(t, ctx, w.server.URL+path)
			requireGood(t, ctx, name+", "+l.String())
		}
	}
}

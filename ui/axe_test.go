package ui_test

import (
	"context"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// axeRun asks axe-core for what is wrong with a page.
const axeRun = `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " " + n.html.slice(0, 120)).join("\n")))`

// U29, for the pages on the way to a decision: axe-core finds nothing, light and
// wide, dark and narrow, and nothing hangs over the edge.
func TestU29PagesOfADecision(t *testing.T) {
	script, err := os.ReadFile("../cmd/agentd/testdata/axe/axe.min.js")
	require.NoError(t, err)
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
		for _, look := range []struct {
			scheme string
			width  int64
		}{{"light", 1280}, {"dark", 320}} {
			do(t, ctx, chromedp.EmulateViewport(look.width, 800), prefers(look.scheme), chromedp.Navigate(w.server.URL+path))
			eval[bool](t, ctx, string(script)+";true")
			found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise))
			require.NoError(t, err)
			require.Empty(t, found, "%s, %s, %d", name, look.scheme, look.width)
			require.True(t, eval[bool](t, ctx, `document.documentElement.scrollWidth <= innerWidth`), "%s hangs over the edge at %d", name, look.width)
		}
	}
}

// prefers makes the browser prefer light or dark.
func prefers(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

package ui_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// U29, for the pages that look back: axe-core finds nothing, light and wide,
// dark and narrow, with all that is folded open, and nothing hangs over the
// edge.
func TestU29PagesThatLookBack(t *testing.T) {
	script, err := os.ReadFile("../cmd/agentd/testdata/axe/axe.min.js")
	require.NoError(t, err)
	w := newWorld(t, nil)
	richStory(w)
	ctx, complaints := w.browser(t, "eve")
	for name, path := range map[string]string{
		"session": "/session?id=release", "a long session": "/session?id=night", "tools": "/tools", "a tool": "/tools/view?name=Bash",
		"insights": "/insights?span=30d", "system": "/system",
	} {
		for _, look := range []struct {
			scheme string
			width  int64
		}{{"light", 1280}, {"dark", 320}} {
			do(t, ctx, chromedp.EmulateViewport(look.width, 800), prefers(look.scheme), chromedp.Navigate(w.server.URL+path))
			eval[bool](t, ctx, string(script)+";document.querySelectorAll('details').forEach(d => d.open = true), true")
			found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise))
			require.NoError(t, err)
			require.Empty(t, found, "%s, %s, %d", name, look.scheme, look.width)
			require.True(t, eval[bool](t, ctx, `document.documentElement.scrollWidth <= innerWidth`), "%s hangs over the edge at %d", name, look.width)
		}
	}
	require.Empty(t, complaints())
}

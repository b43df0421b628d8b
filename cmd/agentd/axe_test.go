package main_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// axeRun asks axe-core for what a page has against it, a line each: the rule,
// what it asks for, and the first places.
const axeRun = `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
	v.id + " (" + v.impact + "): " + v.help + "\n    " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + ": " + n.html.slice(0, 160)).join("\n    ")))`

// U29: axe-core finds nothing on any page, light and dark, 320 and 1280 pixels
// wide.
func TestAxeFindsNothing(t *testing.T) {
	script, err := os.ReadFile("testdata/axe/axe.min.js")
	require.NoError(t, err)
	p := launch(t, t.TempDir(), "demo", "--dir", "demo", "--addr", "127.0.0.1:0")
	b := newBrowser(t)
	b.open(p.link)
	require.Empty(t, b.axe(string(script)), "the sign-in page")
	b.leave("form.panel button")
	b.see(".card")
	pages := p.pages()
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, look := range []struct {
			scheme string
			width  int64
		}{{"light", 1280}, {"dark", 1280}, {"light", 320}, {"dark", 320}} {
			b.look(look.scheme, look.width, 900)
			b.open(p.console() + pages[name])
			for _, found := range b.axe(string(script)) {
				t.Errorf("%s (%s), %s, %d px wide: %s", name, pages[name], look.scheme, look.width, found)
			}
		}
	}
}

// The check can fail: axe sees a picture without a word, and grey on grey.
func TestAxeSeesWhatIsWrong(t *testing.T) {
	script, err := os.ReadFile("testdata/axe/axe.min.js")
	require.NoError(t, err)
	b := newBrowser(t)
	b.open("data:text/html,<html lang=en><title>x</title><main><h1>x</h1><img src=x><p style='color:%23888;background:%23777'>grey</p></main>")
	found := b.axe(string(script))
	require.Len(t, found, 2)
	require.Contains(t, found[0]+found[1], "image-alt")
	require.Contains(t, found[0]+found[1], "color-contrast")
}

// axe runs axe-core in the page. The page's policy does not bind it: it comes
// from the browser's own side.
func (b *browser) axe(script string) []string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script+";true"))
	require.NoError(b.t, err)
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err)
	return found
}

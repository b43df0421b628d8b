package main_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestPagesFitTheirWindow looks at each page of the demo, light, dark and 360
// pixels wide: nothing hangs over the edge. It leaves the pictures in the folder
// that COUNTERSIGN_SCREENSHOTS names, for people to look at.
func TestPagesFitTheirWindow(t *testing.T) {
	folder := cmp.Or(screenshots(), t.TempDir())
	require.NoError(t, os.MkdirAll(folder, 0o755))
	p := launch(t, t.TempDir(), "demo", "--dir", "demo", "--addr", "127.0.0.1:0")
	b := newBrowser(t)
	b.open(p.link)
	b.shoot(folder, "sign-in", p.link)
	b.leave("form.panel button")
	b.see(".card")
	for name, path := range p.pages() {
		b.shoot(folder, name, p.console()+path)
	}
}

// pages names a page of each kind that the console of a demo has, by its path.
func (p *process) pages() map[string]string {
	p.t.Helper()
	who := newPerson(p.t, p.base)
	link := agentd(p.t, p.cmd.Dir, nil, "sign-in", "--data-dir", "demo/data")
	who.redeem(link.out[:len(link.out)-1])
	first := func(page, pattern string) string {
		p.t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(who.page(page))
		require.NotNil(p.t, found, "%s on %s", pattern, page)
		return regexp.MustCompile(`&amp;`).ReplaceAllString(found[1], "&")
	}
	pages := map[string]string{
		"inbox": "/inbox", "history": "/history", "sessions": "/sessions", "missing": "/nothing-here", "tools": "/tools",
		"insights": "/insights", "access": "/access", "system": "/system", "policy": "/system/policy", "found": "/history?q=refund", "none": "/history?q=xyzzyx",
		"runbooks": "/docs/runbooks",
		"request":  first("/inbox", `href="(/requests/[0-9a-f-]{36})"`),
		"call":     first("/history", `href="(/call\?[^"]*)"`),
		"session":  first("/sessions", `href="(/sessions?[/?][^"]*)"`),
	}
	pages["change"] = pages["request"] + "?change=1"
	return pages
}

// fits is whether a page scrolls in one direction alone.
const fits = `document.documentElement.scrollWidth <= document.documentElement.clientWidth`

// shoot looks at a page in each form, and writes its pictures.
func (b *browser) shoot(folder, name, address string) {
	b.t.Helper()
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"360", "light", 360, 780}} {
		b.look(look.scheme, look.width, look.height)
		b.open(address)
		require.True(b.t, value(b, chromedp.Evaluate[bool](fits)), "%s, %s: something hangs over the edge", name, look.name)
		png := value(b, chromedp.CaptureScreenshot())
		require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+"-"+look.name+".png"), png, 0o644))
	}
}

// look sets the window's size, and the colours that its user prefers.
func (b *browser) look(scheme string, width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
}

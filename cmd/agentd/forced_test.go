package main_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// drawnAs is how something is drawn, as far as forced colours leave it: they
// take away shadows and grounds, and make all borders of one colour.
const drawnAs = `(q) => {
	const e = document.querySelector(q), s = getComputedStyle(e);
	return JSON.stringify([s.backgroundColor, s.color, s.borderTopColor, s.borderTopWidth, s.borderTopStyle, s.borderLeftStyle, s.outlineStyle, s.outlineWidth, s.fontWeight, s.fill, s.stroke]);
}`

// Where the system forces its few colours upon pages, and wants nothing to move:
// what is chosen still differs from what is not, waiting from running, what was
// added from what was taken away, and what has the focus has a ring. Nothing on a
// page takes its time.
func TestForcedColoursAndReducedMotion(t *testing.T) {
	d := newDay(t)
	d.twoTurns(t)
	b := d.browser
	b.attend()
	b.open(d.agentd.link)
	b.leave("form.panel button")
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			b.t = t
			b.force(scheme)
			for _, p := range d.forced() {
				p.open(b)
				b.picture("forced-" + p.name + "-" + scheme)
				b.still()
				for _, pair := range p.differ {
					one, other := b.drawn(pair[0]), b.drawn(pair[1])
					require.NotEqual(t, one, other, "%s: %s and %s look the same", p.name, pair[0], pair[1])
				}
			}
			b.press("/")
			b.on("#search")
		})
	}
	b.t = t
	require.Empty(t, b.complained())
}

// forcedPage is a page, and of what on it the first is told from the second.
type forcedPage struct {
	pageOf

	differ [][2]string
}

func (d *day) forced() []forcedPage {
	open := func(path string) func(*browser) { return func(b *browser) { b.open(d.agentd.console() + path) } }
	return []forcedPage{
		{pageOf{"inbox", open("/inbox")}, [][2]string{
			{".card[aria-current]", ".card:not([aria-current])"},
			{".tabs a[aria-current]", ".tabs a:not([aria-current])"},
			{".rail .item[aria-current]", ".rail .item:not([aria-current])"},
			{".decide .yes", ".decide .nay"},
		}},
		{pageOf{"change", d.openChange}, [][2]string{{".diff .a", ".diff .d"}, {".diff .a .w", ".diff .a"}}},
		{pageOf{"together", open("/inbox/select?id=" + d.counts[1] + "&id=" + d.counts[2])}, nil},
		{pageOf{"session", d.openSession}, [][2]string{{".wait-bar", ".run-bar"}, {".run-bar", ".rail-bar"}, {".hatch-line", ".hatch-ground"}}},
		{pageOf{"turn", open("/requests/" + d.second)}, [][2]string{{".turn .this", ".turn li:not(.this)"}}},
		{pageOf{"history", open("/history?q=count")}, [][2]string{{"td mark", "td .found"}}},
		{pageOf{"insights", open("/insights?span=24h")}, [][2]string{{".spans [aria-current]", ".spans a:not([aria-current])"}}},
	}
}

// openSession opens the session of two turns: one call has run, and two wait.
func (d *day) openSession(b *browser) {
	b.open(d.agentd.console() + "/requests/" + d.first)
	b.leave(`.facts a[href^="/session"]`)
}

// force has the browser be as on a system that forces its colours, and wants
// less motion.
func (b *browser) force(scheme string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "forced-colors", Value: "active"}, {Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "prefers-color-scheme", Value: scheme},
		}})
		return err
	}))
	require.Equal(b.t, "true true", b.ask(`matchMedia("(forced-colors: active)").matches + " " + matchMedia("(prefers-reduced-motion: reduce)").matches`))
}

// drawn is how the first of what a selector names is drawn.
func (b *browser) drawn(selector string) string {
	b.t.Helper()
	require.Equal(b.t, "true", b.ask(`String(document.querySelector(`+quoted(selector)+`) !== null)`), selector)
	return b.ask(`(` + drawnAs + `)(` + quoted(selector) + `)`)
}

// still holds that nothing on the page moves, and nothing takes its time.
func (b *browser) still() {
	b.t.Helper()
	const moving = `[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e);
		return s.animationName !== "none" || s.transitionDuration.split(", ").some(t => parseFloat(t) > 0) || s.scrollBehavior === "smooth"; }).map(e => e.outerHTML.slice(0, 80))`
	require.Empty(b.t, value(b, chromedp.Evaluate[[]string](moving)))
}

// picture leaves a picture of the page in the folder that
// COUNTERSIGN_SCREENSHOTS names, for people to look at.
func (b *browser) picture(name string) {
	b.t.Helper()
	if screenshots() == "" {
		return
	}
	png := value(b, chromedp.CaptureScreenshot())
	require.NoError(b.t, os.WriteFile(filepath.Join(screenshots(), name+".png"), png, 0o644))
}

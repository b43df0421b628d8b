package main_test

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// attend has the tab believe that it is in front, as the one of a person is: the
// focus of a tab behind others is not drawn.
func (b *browser) attend() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	}))
}

// press types keys where the focus is, as a keyboard does: what a page forbids
// at the key's way down is not typed.
func (b *browser) press(keys string) {
	b.t.Helper()
	for _, r := range keys {
		b.key(r, 0)
	}
}

// held is a key with modifiers, pressed once.
func (b *browser) held(key string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	b.key([]rune(key)[0], 0, modifiers...)
}

// key presses one key, and holds it for as many repeats.
func (b *browser) key(r rune, repeats int, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	down, up := strokes(r, modifiers)
	sent := []input.DispatchKeyEventParams{down}
	for range repeats {
		again := down
		again.AutoRepeat = new(bool)
		*again.AutoRepeat = true
		sent = append(sent, again)
	}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, e := range append(sent, up) {
			if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, e); err != nil {
				return err
			}
		}
		return nil
	}))
}

// strokes are a key's way down and up. With Ctrl, a letter is an editing command
// that the browser's own window would make of it, and no text.
func strokes(r rune, modifiers []chromedp.Modifier) (down, up input.DispatchKeyEventParams) {
	sent := kb.Encode(r)
	down, up = *sent[0], *sent[len(sent)-1]
	if len(sent) == 3 {
		down.Text = sent[1].Text
	}
	for _, m := range modifiers {
		down.Modifiers |= int64(m)
		up.Modifiers |= int64(m)
		if m != chromedp.ModifierShift {
			down.Text = ""
		}
	}
	if r == 'a' && down.Modifiers&int64(chromedp.ModifierCtrl) != 0 {
		down.Commands = []string{"selectAll"}
	}
	return down, up
}

// focus is what has the focus, and how it is seen.
type focus struct {
	What  string // its id, its shortcut, its address, its name, or its text
	Tag   string
	Ring  bool    // a ring at least two pixels wide is drawn around it
	Seen  float64 // the part of it that nothing covers, of what a window has room for; 0 to 1
	Top   string  // what covers it, if something does
	Place int     // among what tabulate has gathered; -1: it is none of them
}

// ofFocus looks at what has the focus. Of what is larger than the room that the
// bars leave, only some can be seen.
const ofFocus = `(() => {
	const e = document.activeElement;
	const drawn = (e) => { const s = getComputedStyle(e); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2; };
	const boxes = [...e.getClientRects()];
	const whole = boxes[0] || e.getBoundingClientRect();
	const large = whole.height > innerHeight * 0.4, top0 = large ? Math.max(0, whole.top) : whole.top;
	const box = {left: whole.left, width: whole.width, top: top0, height: (large ? Math.min(innerHeight, whole.bottom) : whole.bottom) - top0};
	let seen = 0, top = "";
	for (let i = 0; i < 5; i++) for (let j = 0; j < 5; j++) {
		const hit = document.elementFromPoint(box.left + box.width * (1 + 2 * i) / 10, box.top + box.height * (1 + 2 * j) / 10);
		if (hit && (e.contains(hit) || hit.contains(e) || hit.matches("label") && hit.control === e)) seen++;
		else top = hit ? hit.tagName + "." + (hit.className.baseVal ?? hit.className) + "#" + hit.id : "outside of the window";
	}
	if (seen < 25) top += " (window " + innerWidth + "×" + innerHeight + " at " + Math.round(scrollY) + ", box " + [box.left, box.top, box.width, box.height].map(Math.round) + ")";
	return {
		what: e === document.body ? "BODY" : e.id || e.dataset.key || e.getAttribute("href") || e.name || e.textContent.trim().slice(0, 40),
		tag: e.tagName, ring: drawn(e) || !!e.closest(".search") && drawn(e.closest(".search")),
		seen: large ? (seen > 0 ? 1 : 0) : seen / 25, top,
		place: (globalThis.stops || []).indexOf(e),
	};
})()`

// focus is what has the focus now.
func (b *browser) focus() focus {
	b.t.Helper()
	return value(b, chromedp.Evaluate[focus](ofFocus))
}

// on holds that an element has the focus, that it is seen, and that nothing
// covers it (WCAG 2.4.7, 2.4.11).
func (b *browser) on(selector string) {
	b.t.Helper()
	b.until(`document.activeElement.matches(` + quoted(selector) + `)`)
	b.plain(b.focus())
}

// plain holds that what has the focus can be seen to have it.
func (b *browser) plain(f focus) {
	b.t.Helper()
	require.True(b.t, f.Ring, "%s: %s %q has the focus, and no ring", b.location(), f.Tag, f.What)
	require.InDelta(b.t, 1, f.Seen, 0.001, "%s: %s %q has the focus, and lies under %s", b.location(), f.Tag, f.What, f.Top)
}

// tabTo goes on with the Tab key until an element has the focus.
func (b *browser) tabTo(selector string) {
	b.t.Helper()
	for range 120 {
		b.press(kb.Tab)
		f := b.focus()
		if f.Tag == "BODY" {
			continue // past the end: the next is the first
		}
		b.plain(f)
		if value(b, chromedp.Evaluate[bool](`document.activeElement.matches(`+quoted(selector)+`)`)) {
			return
		}
	}
	require.FailNow(b.t, "the Tab key does not lead there", "%s on %s", selector, b.location())
}

// ask asks the page.
func (b *browser) ask(expression string) string {
	b.t.Helper()
	return value(b, chromedp.Evaluate[string](expression))
}

// until waits for the page to be as it should, over pages that come and go.
func (b *browser) until(expression string) {
	b.t.Helper()
	var last error
	waitFor(b.t, expression, patience, 10*time.Millisecond, func() bool {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		var holds bool
		holds, last = chromedp.Run(ctx, chromedp.Evaluate[bool](`!!(`+expression+`)`))
		return last == nil && holds
	})
}

// at waits for a page whose address begins like this, and for its shortcuts,
// which come last.
func (b *browser) at(path string) {
	b.t.Helper()
	b.until(`(location.pathname + location.search).startsWith(` + quoted(path) + `) && document.readyState === "complete" && document.body.dataset.keys`)
}

// quoted is a text as a script writes it.
func quoted(text string) string { return "`" + strings.ReplaceAll(text, "`", "\\`") + "`" }

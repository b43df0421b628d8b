package main_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Whatever acts on a page gets the focus by the Tab key alone, in the order in
// which the page is read, there and back, and is seen to have it; there is an
// end, and no trap. Nothing that sticks to the window lies over what has the
// focus, in a wide window, in a narrow one, and in one that is low besides.
func TestEverythingIsReachedByTab(t *testing.T) {
	d := newDay(t)
	d.twoTurns(t)
	b := d.browser
	b.attend()
	b.look("light", 1280, 900)
	b.open(d.agentd.console() + "/sign-in")
	require.Equal(t, []string{"Skip to the page", "/inbox", "token", "Sign in"}, b.names(b.tabulate()))
	b.open(d.agentd.link)
	b.leave("form.panel button")
	for _, p := range d.everyPage() {
		t.Run(p.name, func(t *testing.T) {
			b.t = t
			for _, window := range [][2]int64{{1280, 800}, {320, 800}, {320, 256}} { // the last: 1280 × 1024, four times as large
				b.look("light", window[0], window[1])
				p.open(b)
				stops := b.tabulate()
				require.NotEmpty(t, stops)
				b.there(stops)
				b.back(stops)
			}
		})
	}
	b.t = t
	for _, c := range b.complained() {
		require.Contains(t, c, "/nothing-here", "the browser notes that there is no such page, and nothing else")
	}
}

// pageOf is a page, and how somebody comes to it.
type pageOf struct {
	name string
	open func(*browser)
}

// everyPage are the pages of the console, with something on each.
func (d *day) everyPage() []pageOf {
	d.t.Helper()
	who := newPerson(d.t, d.agentd.base)
	link := agentd(d.t, d.home.dir, nil, "sign-in", "--data-dir", "data")
	who.redeem(strings.TrimSpace(link.out))
	link1 := func(page, pattern string) string {
		d.t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(who.page(page))
		require.NotNil(d.t, found, "%s on %s", pattern, page)
		return strings.ReplaceAll(found[1], "&amp;", "&")
	}
	var pages []pageOf
	add := func(name, path string) {
		pages = append(pages, pageOf{name, func(b *browser) { b.open(d.agentd.console() + path) }})
	}
	add("inbox", "/inbox")
	add("a request", "/requests/"+d.write)
	add("a request with long arguments", "/requests/"+d.long)
	add("a request, being changed", "/requests/"+d.write+"?change=1")
	add("several chosen", "/inbox/select?"+url.Values{"id": d.counts[1:]}.Encode())
	add("a request that was decided", "/requests/"+d.first+"?decided=1")
	add("history", "/history")
	add("history, searched and filtered", "/history?q=count&tool=Count&rule=required-tools")
	add("a call", link1("/history?state=ok", `href="(/call\?[^"]*)"`))
	add("a record", link1("/history", `href="(/at/[^"]*)"`))
	add("sessions", "/sessions")
	add("a session", link1("/sessions", `href="(/sessions?[/?][^"]*)"`))
	add("tools", "/tools")
	add("a tool", link1("/tools", `href="(/tools/view[^"]*)"`))
	add("insights", "/insights")
	add("access", "/access")
	add("system", "/system")
	add("runbooks", "/docs/runbooks")
	add("a runbook", link1("/docs/runbooks", `href="(/docs/runbooks/[^"]*)"`))
	add("shortcuts", "/keys")
	add("no page", "/nothing-here")
	return append(pages, pageOf{"a change, before it is approved", d.openChange})
}

// openChange opens the page between a change and its approval.
func (d *day) openChange(b *browser) {
	b.open(d.agentd.console() + "/requests/" + d.write + "?change=1")
	b.do(chromedp.SetValue(chromedp.CSS("#arguments"), `{"path":"note.txt","content":"as the reviewer wants it\n"}`))
	b.do(chromedp.Submit(chromedp.CSS("#arguments")))
	b.at("/requests/" + d.write + "/change")
}

// gather finds what acts on a page and can be seen, in the order of its text, and
// says what each is called.
const gather = `(globalThis.stops = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
	.filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled && e.type !== "hidden" && e.tabIndex >= 0)
).map(e => e.id || e.getAttribute("href") === "#main" && e.textContent || e.getAttribute("href") || e.name || e.textContent.trim().slice(0, 40))`

// misplaced finds what comes, on the page as it is seen, before what it should
// come after. What sticks to the window has no place of its own.
const misplaced = `(() => {
	const sticks = (e) => { for (; e; e = e.parentElement) if (["sticky", "fixed"].includes(getComputedStyle(e).position)) return true; };
	const there = stops.filter(e => e.closest("#main") && !sticks(e));
	return there.slice(1).filter((e, i) => {
		const before = there[i].getBoundingClientRect(), box = e.getBoundingClientRect();
		return box.bottom <= before.top && box.left < before.right || box.right <= before.left && box.top < before.bottom && box.bottom > before.top;
	}).map(e => e.outerHTML.slice(0, 120));
})()`

// tabulate gathers the stops of a page, which are where they should be.
func (b *browser) tabulate() []string {
	b.t.Helper()
	stops := value(b, chromedp.Evaluate[[]string](gather))
	require.Empty(b.t, value(b, chromedp.Evaluate[[]string](misplaced)), "%s: seen before what it follows", b.location())
	return stops
}

// names are the stops that have the focus, one after another, by the Tab key.
func (b *browser) names(stops []string) []string {
	b.t.Helper()
	var got []string
	for _, place := range b.walk(len(stops)) {
		got = append(got, stops[place])
	}
	return got
}

// there goes through a page by the Tab key, from its top to its end.
func (b *browser) there(stops []string) {
	b.t.Helper()
	if b.focus().Tag != "BODY" {
		b.walk(len(stops), chromedp.ModifierShift) // what the page has put the focus on is not its top
	}
	got := b.walk(len(stops))
	require.Equal(b.t, places(len(stops)), got, "%s: the Tab key leads to\n%s\nof\n%s", b.location(), named(stops, got), named(stops, places(len(stops))))
}

// back goes back from the end of a page.
func (b *browser) back(stops []string) {
	b.t.Helper()
	got := b.walk(len(stops), chromedp.ModifierShift)
	slices.Reverse(got)
	require.Equal(b.t, places(len(stops)), got, "%s: back, the Tab key leads to\n%s", b.location(), named(stops, got))
}

func places(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i)
	}
	return all
}

func named(stops []string, got []int) string {
	var b strings.Builder
	for _, i := range got {
		fmt.Fprintf(&b, "  %d", i)
		if i >= 0 {
			fmt.Fprintf(&b, " %s", stops[i])
		}
	}
	return b.String()
}

// walk presses the Tab key until the focus leaves the page, and returns which
// stops had it. A field of several parts is one stop.
func (b *browser) walk(n int, modifiers ...chromedp.Modifier) []int {
	b.t.Helper()
	var got []int
	for range 2*n + 20 {
		b.held(kb.Tab, modifiers...)
		f := b.focus()
		if len(got) > 1 && (f.Tag == "BODY" || f.Place == got[0]) { // some browsers go round
			return got
		}
		if f.Tag == "BODY" || len(got) > 0 && got[len(got)-1] == f.Place {
			continue
		}
		b.plain(f)
		got = append(got, f.Place)
	}
	require.FailNow(b.t, "the Tab key leads to no end", "%s: %v of %d", b.location(), got, n)
	return nil
}

package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// A reviewer's whole day by keyboard alone, in Chromium and against the real
// program: no pointer, no script of the test's own that acts. At every step what
// has the focus is where it should be, is seen to have it, and nothing lies over
// it.
func TestAWholeDayByKeyboard(t *testing.T) {
	d := newDay(t)
	steps := []struct {
		name string
		do   func(*day)
	}{
		{"sign in", (*day).signIn},
		{"move in the queue", (*day).move},
		{"change and approve", (*day).change},
		{"read all of it and approve", (*day).read},
		{"type, and hold keys down", (*day).fields},
		{"decline", (*day).decline},
		{"decide two together", (*day).together},
		{"search", (*day).search},
		{"filter, open a call, go back", (*day).filter},
		{"look back at a session", (*day).session},
		{"look at tools", (*day).tools},
		{"insights", (*day).insights},
		{"access", (*day).access},
		{"system", (*day).system},
		{"ask for help", (*day).help},
		{"switch shortcuts off and on", (*day).without},
		{"sign out", (*day).signOut},
	}
	for _, s := range steps {
		require.True(t, t.Run(s.name, func(t *testing.T) {
			d.t, d.browser.t, d.home.t = t, t, t
			s.do(d)
		}), "the day ends here")
	}
	d.t, d.browser.t = t, t
	require.Empty(t, d.browser.complained(), "console errors, or violations of the Content-Security-Policy")
}

// day is what a day begins with: requests of five sessions, the oldest first.
type day struct {
	t       *testing.T
	home    *home
	agentd  *process
	browser *browser

	write, long, bash string    // requests
	counts            [3]string // requests of one turn, alike
}

// longLines is as many as make a text that is folded away.
const longLines = 700

func newDay(t *testing.T) *day {
	t.Helper()
	h := newHome(t)
	d := &day{t: t, home: h, agentd: h.start(), browser: newBrowser(t)}
	asks := func(calls ...ask) *stream { return d.agentd.as(agentToken).begin(t, plan{calls}.query()) }
	next := func(s *stream) string { return s.until(t, "approval_request").RequestID }
	d.write = next(asks(ask{"Write", `{"path":"note.txt","content":"as the model wants it\n"}`}))
	d.long = next(asks(ask{"Write", `{"path":"long.txt","content":"` + strings.Repeat(`one line of many that a reviewer reads\n`, longLines) + `the last line"}`}))
	d.bash = next(asks(ask{"Bash", `{"command":"rm -rf ."}`}))
	s := asks(count("Count", "one"), count("Count", "two"), count("Count", "three"))
	for i := range d.counts {
		d.counts[i] = next(s)
	}
	return d
}

func (d *day) signIn() {
	b := d.browser
	b.attend()
	b.open(d.agentd.link)
	b.on("form.panel button")
	b.press(kb.Enter)
	b.at("/inbox")
	require.Contains(d.t, b.ask(`document.querySelector("#waiting").textContent`), "6")
	require.Equal(d.t, "on", b.ask(`document.body.dataset.keys`))
	b.press(kb.Tab)
	b.on(".skip")
	b.press(kb.Enter)
	b.until(`document.activeElement.id === "main"`) // the next Tab is the page's own first
}

// card is a card of the queue.
func card(request string) string { return `[id="card-` + request + `"]` }

func (d *day) move() {
	b := d.browser
	b.press("j")
	b.on(card(d.long))
	b.press("j")
	b.on(card(d.bash))
	b.press("jjjj")
	b.on(card(d.counts[2])) // the last: there is no further
	b.press("kkkkkkk")
	b.on(card(d.write))
	b.press("x")
	b.until(`document.querySelector("input[name=id]").checked`)
	b.on(card(d.write))
	b.press("x")
	b.until(`!document.querySelector("input[name=id]").checked`)
	b.press(kb.Enter)
	b.at("/requests/" + d.write)
}

func (d *day) change() {
	b := d.browser
	b.press("e")
	b.on("#change textarea[name=text]")
	b.held("a", chromedp.ModifierCtrl)
	b.press("as the reviewer wants it\r")
	require.Equal(d.t, "as the reviewer wants it\n", b.ask(`document.activeElement.value`))
	b.press(kb.Tab)
	b.on("#change form:first-of-type button")
	b.press(kb.Enter)
	b.at("/requests/" + d.write + "/change")
	require.Contains(d.t, b.text(".diff"), "as the reviewer wants it")
	require.NoFileExists(d.t, d.home.path("workspace", "note.txt"), "nothing is decided yet")
	b.press("a")
	b.on(".decide button[value=approve_and_modify]")
	require.NoFileExists(d.t, d.home.path("workspace", "note.txt"), "one stroke decides nothing")
	b.press("a")
	d.decided(d.write, "pproved with changes")
	eventually(d.t, "what was changed has run", func() bool {
		written, err := os.ReadFile(d.home.path("workspace", "note.txt"))
		return err == nil && string(written) == "as the reviewer wants it\n"
	})
	b.press(kb.Enter)
	b.at("/requests/" + d.long)
}

// decided holds that the page of a request tells what became of it, and that the
// way to the next one has the focus.
func (d *day) decided(request, words string) {
	d.t.Helper()
	b := d.browser
	b.at("/requests/" + request + "?decided=1")
	b.on("#next")
	require.Contains(d.t, b.text(".outcome"), words)
}

func (d *day) read() {
	b := d.browser
	const folded = ".arguments [data-layout=laid] details"
	b.tabTo(folded + " > summary")
	require.Equal(d.t, "false", b.ask(`String(document.activeElement.parentElement.open)`))
	b.press(" ")
	b.until(`document.activeElement.parentElement.open`)
	b.tabTo(folded + " pre")
	b.press(kb.End)
	b.until(`(({scrollTop, clientHeight, scrollHeight}) => scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 2)(document.activeElement)`)
	require.True(d.t, strings.Contains(b.text(folded+" pre"), "the last line"), "all of it is there") //nolint:testifylint // the text is long
	b.press("a")
	b.on(".decide [data-key=a]")
	b.key('a', 20) // held down: the first stroke decides, no other does more
	d.decided(d.long, "pproved")
	b.press(kb.Enter)
	b.at("/requests/" + d.bash)
}

// fields: in a field letters are letters, and Enter decides nothing; a key that
// is held down acts once.
func (d *day) fields() {
	b := d.browser
	b.key('a', 20)
	b.on(".decide [data-key=a]")
	d.waits(4)
	b.tabTo(".decide [data-key=d]")
	b.held(kb.Tab, chromedp.ModifierShift)
	b.held(kb.Tab, chromedp.ModifierShift)
	b.held(kb.Tab, chromedp.ModifierShift)
	b.on(".decide input[name=comment]")
	b.press("jadex?u/gs")
	require.Equal(d.t, "jadex?u/gs", b.ask(`document.activeElement.value`))
	b.press(kb.Enter)
	d.waits(4)
	b.on(".decide input[name=comment]")
	b.held("a", chromedp.ModifierCtrl)
	b.press(kb.Backspace + kb.Escape)
	b.until(`document.activeElement === document.body`)
	for _, m := range []chromedp.Modifier{chromedp.ModifierCtrl, chromedp.ModifierAlt, chromedp.ModifierMeta} {
		b.held("d", m)
		require.Equal(d.t, "BODY", b.focus().Tag, "a modifier is held")
	}
}

// waits holds how many requests wait, as the server has it.
func (d *day) waits(n int) {
	d.t.Helper()
	d.browser.until(`fetch("/inbox/queue").then(r => r.text()).then(t => globalThis.asked = t) && (globalThis.asked || "").includes('data-total="` + string(rune('0'+n)) + `"')`)
}

func (d *day) decline() {
	b := d.browser
	b.press("d")
	b.on(".decide input[name=comment]")
	b.press("Use git clean, on a branch.")
	require.Contains(d.t, b.text("#told"), "Use git clean, on a branch.")
	b.press(kb.Enter)
	b.on(".decide [data-key=d]")
	d.waits(4)
	b.press(kb.Enter)
	d.decided(d.bash, "Use git clean, on a branch.")
	b.press(kb.Enter)
	b.at("/requests/" + d.counts[0])
}

func (d *day) together() {
	b := d.browser
	b.press("u")
	b.on(card(d.counts[0]))
	b.press("xjx")
	b.on(card(d.counts[1]))
	b.until(`document.querySelector(".together button").textContent === "Decide 2 together"`)
	b.tabTo(".together button")
	b.press(kb.Enter)
	b.at("/inbox/select")
	b.tabTo(".decide input[name=comment]")
	b.press("both are fine" + kb.Enter)
	b.tabTo(".decide .btn.yes")
	b.press(kb.Enter)
	b.at("/inbox/decide")
	b.on("#next")
	require.Contains(d.t, b.text("#outcome"), "2 of 2 requests approved")
	eventually(d.t, "both have run, and the third has not", func() bool {
		return d.home.executed(`{"key":"one"}`) && d.home.executed(`{"key":"two"}`)
	})
	require.False(d.t, d.home.executed(`{"key":"three"}`))
	b.press(kb.Enter)
	b.at("/inbox")
	d.waits(1)
}

func (d *day) search() {
	b := d.browser
	b.press("/")
	b.on("#search")
	b.press("reviewer wants" + kb.Enter)
	b.at("/history?q=reviewer+wants")
	require.Equal(d.t, "reviewer", b.text("td mark"))
	b.tabTo(".filter") // what narrows the list, and the way to be rid of it
	b.press(kb.Enter)
	b.until(`location.pathname === "/history" && location.search === "" && document.body.dataset.keys`)
}

func (d *day) filter() {
	b := d.browser
	b.tabTo("select[name=tool]")
	b.press("Bash")
	b.tabTo("details.more > summary")
	b.press(kb.Enter)
	b.tabTo("select[name=decider]")
	b.tabTo(".filters > button")
	b.press(kb.Enter)
	b.at("/history")
	b.until(`new URLSearchParams(location.search).get("tool") === "Bash"`)
	require.Equal(d.t, "1", b.ask(`String(document.querySelectorAll("tbody tr").length)`))
	list := b.location()
	b.tabTo(`tbody a[href^="/call"]`)
	b.press(kb.Enter)
	b.at("/call")
	require.Contains(d.t, b.text("#main"), "rm -rf .")
	b.do(chromedp.NavigateBack()) // the browser's own key: pages do not get it
	b.at(list)
}

// goes presses g and a letter.
func (d *day) goes(letter, path string) {
	d.t.Helper()
	d.browser.press("g" + letter)
	d.browser.at(path)
	require.Equal(d.t, path, d.browser.ask(`document.querySelector(".rail [aria-current]").getAttribute("href")`))
}

func (d *day) session() {
	b := d.browser
	d.goes("s", "/sessions")
	b.tabTo(`tbody a[href^="/session"]`)
	b.press(kb.Enter)
	b.at("/session")
	b.tabTo(".lanes a")
	b.press(kb.Enter)
	b.at("/call")
}

func (d *day) tools() {
	b := d.browser
	d.goes("t", "/tools")
	b.tabTo(`tbody a[href^="/tools"]`)
	b.press(kb.Enter)
	b.at("/tools/view")
	b.tabTo(`a[href^="/history"]`)
	b.press(kb.Enter)
	b.at("/history")
}

func (d *day) insights() {
	b := d.browser
	d.goes("n", "/insights")
	b.tabTo(`a[href*="24h"]`)
	b.press(kb.Enter)
	b.at("/insights?span=24h")
	require.Equal(d.t, "24 hours", b.text(`#main [aria-current]`))
	b.tabTo("input[name=to]")
	b.tabTo(".spans button")
	b.press(kb.Enter)
	b.at("/insights?from=")
}

func (d *day) access() {
	b := d.browser
	d.goes("a", "/access")
	b.tabTo("select[name=action]")
	b.press(kb.ArrowDown)
	b.tabTo(".filters > button")
	b.press(kb.Enter)
	b.at("/access?")
	b.tabTo(".active .all")
	b.press(kb.Enter)
	b.until(`location.search === "" && document.body.dataset.keys`)
}

func (d *day) system() {
	b := d.browser
	d.goes("y", "/system")
	b.tabTo("#main details > summary")
	b.press(kb.Enter)
	b.until(`document.activeElement.parentElement.open`)
	b.tabTo(`a[href="/docs/runbooks"]`)
	b.press(kb.Enter)
	b.at("/docs/runbooks")
}

func (d *day) help() {
	b := d.browser
	d.goes("i", "/inbox")
	b.press("j")
	b.on(".card")
	from := b.focus().What
	b.press("?")
	b.until(`document.querySelector("dialog#help[open]")?.contains(document.activeElement)`)
	b.plain(b.focus())
	b.press("jadxeu/gs")
	for range 6 {
		b.press(kb.Tab)
		b.until(`document.activeElement === document.body || document.querySelector("#help").contains(document.activeElement)`)
	}
	require.Equal(d.t, "/inbox", b.location(), "a dialog is open")
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog[open]")`)
	require.Equal(d.t, from, b.focus().What, "the focus is back where it was")
	b.on(".card")
}

func (d *day) without() {
	b := d.browser
	b.press("?")
	b.until(`document.querySelector("dialog[open]")?.contains(document.activeElement)`)
	b.tabTo("#help [data-keys-switch]")
	b.press(" ")
	b.until(`document.body.dataset.keys === "off"`)
	b.press(kb.Escape)
	b.on(".card")
	from := b.focus().What
	b.press("jkaaddeexx?u/gsgh")
	require.Equal(d.t, from, b.focus().What, "switched off no letter acts")
	require.Equal(d.t, "/inbox", b.location())
	d.waits(1)
	b.tabTo(`a[href="/keys"]`)
	b.press(kb.Enter)
	b.at("/keys")
	b.tabTo("[data-keys-switch]")
	b.press(kb.Enter)
	b.until(`document.body.dataset.keys === "on"`)
	d.goes("h", "/history")
}

func (d *day) signOut() {
	b := d.browser
	b.tabTo(".who button")
	b.press(kb.Enter)
	b.until(`location.pathname === "/sign-in"`)
	b.open(d.agentd.console() + "/history")
	b.until(`location.pathname === "/sign-in" || document.querySelector('a[href^="/sign-in"]')`)
}

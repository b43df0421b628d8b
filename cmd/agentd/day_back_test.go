package main_test

import (
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

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
	b.tabTo(`#main a[href^="/history?"]`)
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

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
	d.goThrough(t, []step{
		{"sign in", d.signIn},
		{"move in the queue", d.move},
		{"change and approve", d.change},
		{"read all of it and approve", d.read},
		{"type, and hold keys down", d.fields},
		{"decline", d.decline},
		{"decide two together", d.together},
		{"search", d.search},
		{"filter, open a call, go back", d.filter},
		{"look back at a session", d.session},
		{"look at tools", d.tools},
		{"insights", d.insights},
		{"access", d.access},
		{"system", d.system},
		{"ask for help", d.help},
		{"switch shortcuts off and on", d.without},
		{"sign out", d.signOut},
	})
	require.Empty(t, d.browser.complained(), "console errors, or violations of the Content-Security-Policy")
}

// day is what a day begins with: requests of six sessions, the oldest first.
type day struct {
	t       *testing.T
	home    *home
	agentd  *process
	browser *browser

	write, long, bash string    // requests
	counts            [3]string // requests that are alike, the first two of one turn
	first, second     string    // requests of twoTurns
}

// longLines is as many as make a text that is folded away.
const longLines = 700

// step is a part of a day. Each needs those before it.
type step struct {
	name string
	do   func()
}

// goThrough takes the steps of a day.
func (d *day) goThrough(t *testing.T, steps []step) {
	t.Helper()
	within := func(t *testing.T) { d.t, d.browser.t, d.home.t, d.agentd.t = t, t, t, t } //nolint:thelper // it helps nothing itself
	for _, s := range steps {
		require.True(t, t.Run(s.name, func(t *testing.T) {
			within(t)
			s.do()
		}), "the day ends here")
	}
	within(t)
}

func newDay(t *testing.T) *day {
	t.Helper()
	h := newHome(t)
	d := &day{t: t, home: h, agentd: h.start(), browser: newBrowser(t)}
	asks := func(calls ...ask) *stream { return d.agentd.as(agentToken).begin(t, plan{calls}.query()) }
	next := func(s *stream) string { return s.until(t, "approval_request").RequestID }
	d.write = next(asks(ask{"Write", `{"path":"note.txt","content":"as the model wants it\n"}`}))
	d.long = next(asks(ask{"Write", `{"path":"long.txt","content":"` + strings.Repeat(`one line of many that a reviewer reads\n`, longLines) + `the last line"}`}))
	d.bash = next(asks(ask{"Bash", `{"command":"rm -rf ."}`}))
	s := asks(count("Count", "one"), count("Count", "two"))
	d.counts = [3]string{next(s), next(s), next(asks(count("Count", "three")))}
	return d
}

// twoTurns begins a session of two turns: the request of the first was approved,
// and its call has run; two of the second wait.
func (d *day) twoTurns(t *testing.T) {
	t.Helper()
	s := d.agentd.as(agentToken).begin(t, plan{{count("Count", "first")}, {count("Count", "second"), count("Count", "third")}}.query())
	d.first = s.until(t, "approval_request").RequestID
	d.agentd.as(aliceToken).approve(t, d.first)
	d.second = s.until(t, "approval_request").RequestID
	require.True(t, d.home.executed(`{"key":"first"}`))
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
	b.tabTo(".decide input[name=comment]")
	b.press("mine" + kb.Enter + kb.Escape)
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
	const total = `fetch("/inbox/queue").then(r => r.text()).then(t => Number(/data-total="(\d+)"/.exec(t)[1]))`
	require.Equal(d.t, n, value(d.browser, chromedp.Evaluate[int](total, chromedp.EvalAwaitPromise)))
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

package ui_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// chromium is the one Chromium of all tests, each of which has cookies, storage
// and tabs of its own in it: to start it takes longer than most of them. TestMain
// ends it.
type chromium struct {
	begin sync.Once
	ctx   context.Context // of the browser
	stop  []func()
	err   error
}

var shared chromium

// start starts it at the first call; the context is that of the browser.
func (c *chromium) start(path string) (context.Context, error) {
	c.begin.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path), chromedp.Flag("disable-quic", true))
		process, end := chromedp.NewExecAllocator(context.Background(), options...)
		browser, leave := chromedp.NewContext(process)
		c.ctx, c.stop = browser, []func(){leave, end}
		c.err = chromedp.Do(browser, chromedp.Navigate("about:blank"))
	})
	return c.ctx, c.err
}

// end ends it, where it was started.
func (c *chromium) end() {
	for _, stop := range c.stop {
		stop()
	}
}

// browser opens a window of Chromium, signs somebody in, and gathers what the
// pages complain of.
func (w *world) browser(t *testing.T, name string) (ctx context.Context, complaints func() []string) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("REQUIRE_ALL") == "" {
		t.Skip("SKIPPED: there is no chromium on this machine; REQUIRE_ALL=1 makes this a failure")
	}
	require.NoError(t, err)
	ctx, err = shared.start(path)
	require.NoError(t, err)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	do(t, ctx, chromedp.EmulateViewport(1280, 800))
	said := make(chan string, 100)
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if m.Source != "other" && m.Source != "recommendation" { // hints to developers
				said <- m.Text
			}
		}
	}()
	do(t, ctx, chromedp.Navigate(w.server.URL+"/sign-in"), chromedp.SendKeys("#token", w.tokens[name]), chromedp.Submit("#token"), chromedp.WaitVisible(".rail"))
	return ctx, func() (all []string) {
		for {
			select {
			case s := <-said:
				all = append(all, s)
			default:
				return all
			}
		}
	}
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) { //nolint:revive // t goes first in tests
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, steps...))
}

// eval asks the page.
func eval[T any](t *testing.T, ctx context.Context, expression string) T { //nolint:revive // as above
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err)
	return v
}

// until waits for the page to be as it should.
func until(t *testing.T, ctx context.Context, expression string) { //nolint:revive // as above
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(10*time.Second)))
		if err != nil && time.Now().Before(end) && (strings.Contains(err.Error(), "Cannot find context") || strings.Contains(err.Error(), "navigated")) {
			continue // the page went meanwhile: the next one is asked
		}
		require.NoError(t, err, expression)
		return
	}
}

// U27: a reviewer types while the world moves: nothing that they read or type
// does.
func TestU27ALivePageNeverMovesWhatSomebodyReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	_, other := w.ask("s2", "Write", `{"path":"a"}`)
	ctx, complaints := w.browser(t, "ben")
	do(t, ctx, chromedp.Navigate(w.server.URL+"/requests/"+q.RequestID), chromedp.WaitVisible("form.decide"))
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	do(t, ctx, chromedp.SendKeys("form.decide input[name=comment]", "because"))
	eval[bool](t, ctx, `(document.querySelector("#request").scrollTop = 40, true)`)
	const place = `JSON.stringify([...document.querySelectorAll(".card")].slice(0, 2).map(c => c.getBoundingClientRect().top)
		.concat(document.querySelector("form.decide").getBoundingClientRect().top, document.querySelector("#request").scrollTop))`
	before := eval[string](t, ctx, place)

	w.ask("s3", "Edit", `{"path":"late"}`)
	until(t, ctx, `document.querySelectorAll(".card").length === 3`)
	require.Equal(t, "late", eval[string](t, ctx, `document.querySelectorAll(".card .sum")[2].textContent`))
	require.Equal(t, "1 new, show", eval[string](t, ctx, `document.querySelector(".new").textContent`))
	until(t, ctx, `document.querySelector("#said").textContent === "1 new request waits, 3 in all."`)
	require.Equal(t, "(3) Bash request · Countersign", eval[string](t, ctx, "document.title"))

	w.log.Decide(other, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	until(t, ctx, `document.querySelectorAll(".card.ended").length === 1`)
	require.Equal(t, before, eval[string](t, ctx, place))
	require.Equal(t, "because", eval[string](t, ctx, `document.activeElement.value`))

	w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	until(t, ctx, `document.querySelector("#moved").textContent.includes("Declined by Dana")`)
	require.True(t, eval[bool](t, ctx, `[...document.querySelectorAll("form.decide button")].every(b => b.disabled)`))
	require.Equal(t, before, eval[string](t, ctx, place))
	require.Empty(t, complaints())
}

func TestTheFirstRequestComesIntoAnEmptyInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	ctx, complaints := w.browser(t, "ben")
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	_, q := w.ask("s1", "Write", `{"path":"a","content":"x"}`)
	until(t, ctx, `document.querySelectorAll(".card").length === 1`)
	do(t, ctx, chromedp.Click(".card"), chromedp.WaitVisible("form.decide"), chromedp.Click("[data-change]"), chromedp.WaitVisible("#arguments"),
		chromedp.SetValue("#arguments", "{\"path\": \"a\",\n \"content\": \"y\"}"), chromedp.Click("#change button"), chromedp.WaitVisible(".diff"),
		chromedp.Click("button[value=approve_and_modify]"), chromedp.WaitVisible(".outcome"))
	require.Contains(t, eval[string](t, ctx, `document.querySelector(".outcome").textContent`), "Approved with changes by Ben Okafor")
	requireText(t, "{\"path\": \"a\",\n \"content\": \"y\"}", string(w.gate.last().Arguments))
	require.Equal(t, q.RequestID, w.gate.last().RequestID)
	require.Empty(t, complaints())
}

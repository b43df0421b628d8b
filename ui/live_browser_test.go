package ui_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui"
)

// Statements S12 to S14, in a real browser.

// tab opens one more tab of a browser on a page, and waits until it is live.
func (w *world) tab(t *testing.T, browser context.Context, path string) (tab context.Context, shut func()) { //nolint:revive // t goes first in tests
	t.Helper()
	tab, shut = chromedp.NewContext(browser)
	t.Cleanup(shut)
	do(t, tab, chromedp.Navigate(w.server.URL+path))
	until(t, tab, `document.querySelector("#live").dataset.state === "live"`)
	return tab, shut
}

// shows waits until a tab shows a number of waiting requests, in rail, title
// and icon.
func shows(t *testing.T, tab context.Context, n int) { //nolint:revive // as above
	t.Helper()
	until(t, tab, `document.querySelector("#pending").firstChild.textContent === "`+strconv.Itoa(n)+`" && document.title.startsWith("(`+strconv.Itoa(n)+`) ")
		&& document.querySelector("link[rel=icon]").href.includes("icon-waiting")`)
}

// hide makes a tab believe that nobody looks at it, or that somebody does.
func hide(t *testing.T, tab context.Context, hidden bool) { //nolint:revive // as above
	t.Helper()
	eval[bool](t, tab, `(Object.defineProperty(document, "hidden", {configurable: true, get: () => `+strconv.FormatBool(hidden)+`}),
		document.dispatchEvent(new Event("visibilitychange")))`)
}

// showsNone waits until a tab shows nothing waiting.
func showsNone(t *testing.T, tab context.Context) { //nolint:revive // as above
	t.Helper()
	until(t, tab, `document.querySelector("#pending").hidden && !document.title.startsWith("(") && !document.querySelector("link[rel=icon]").href.includes("waiting")`)
}

func TestS12OneStreamForAllTabs(t *testing.T) {
	t.Parallel()
	const tabs = 8
	reg := prometheus.NewRegistry()
	w := newWorld(t, func(o *ui.Options) { o.Metrics = reg })
	w.log.SetNow(time.Now())
	browser, complaints := w.browser(t, "ben")
	do(t, browser, chromedp.Navigate("about:blank"))
	var all []context.Context
	var shut []func()
	for i := range tabs {
		tab, end := w.tab(t, browser, []string{"/inbox", "/history", "/sessions"}[i%3])
		all, shut = append(all, tab), append(shut, end)
	}
	streams := func() float64 { return gathered(t, reg, "countersign_sse_clients", streamLabel) }
	require.InDelta(t, 1, streams(), 0)
	_, q := w.ask("a", "Write", `{}`)
	for _, tab := range all {
		shows(t, tab, 1)
	}
	until(t, all[0], `document.querySelectorAll(".card").length === 1`)

	// The tab that reads goes; another one goes on from where it was.
	shut[0]()
	w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	began := time.Now()
	for _, tab := range all[1:] {
		showsNone(t, tab)
	}
	require.Less(t, time.Since(began), 20*time.Second)
	require.Eventually(t, func() bool { return streams() == 1 }, 2*time.Second, 20*time.Millisecond)
	require.Empty(t, complaints())
}

// A tab that the browser has put to sleep while it reads for the others is
// replaced when somebody looks at one of them.
func TestS12AFrozenTabIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	browser, _ := w.browser(t, "ben")
	do(t, browser, chromedp.Navigate("about:blank"))
	first, _ := w.tab(t, browser, "/inbox")
	second, _ := w.tab(t, browser, "/inbox")
	hide(t, first, true)
	_, err := chromedp.Call(first, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateFrozen})
	require.NoError(t, err)
	w.ask("a", "Write", `{"path":"a"}`)
	until(t, second, `(document.dispatchEvent(new Event("visibilitychange")), true)`)
	until(t, second, `document.querySelectorAll(".card").length === 1`) // the visit itself
	shows(t, second, 1)                                                 // by the stream, which this tab now reads
}

func TestS13AHiddenTabCountsAndIsFreshWhenShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	browser, complaints := w.browser(t, "ben")
	do(t, browser, chromedp.Navigate("about:blank"))
	tab, _ := w.tab(t, browser, "/inbox")
	hide(t, tab, true)
	w.ask("a", "Write", `{"path":"a"}`)
	_, q := w.ask("b", "Write", `{"path":"b"}`)
	shows(t, tab, 2)
	require.Zero(t, eval[int](t, tab, `document.querySelectorAll(".card").length`), "what nobody sees is not fetched")
	w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	w.ask("c", "Write", `{"path":"c"}`)
	began := time.Now()
	hide(t, tab, false)
	until(t, tab, `[...document.querySelectorAll(".card .sum")].map(s => s.textContent).join() === "a,c"`)
	require.Less(t, time.Since(began), 10*time.Second)

	require.Empty(t, complaints())
}

// gated serves the console, and no streams while it is shut.
func (w *world) gated() (shut *atomic.Bool) {
	shut = &atomic.Bool{}
	console := w.console.Handler()
	w.server.Close()
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if shut.Load() && strings.HasPrefix(r.URL.Path, "/live") {
			http.Error(rw, "shut", http.StatusBadGateway)
			return
		}
		console.ServeHTTP(rw, r)
	})) // which the world closes
	return shut
}

func TestS14ALineThatIsDownIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *ui.Options) { o.Heartbeat = 500 * time.Millisecond })
	shut := w.gated()
	w.log.SetNow(time.Now())
	_, q := w.ask("a", "Write", `{"path":"a"}`)
	browser, _ := w.browser(t, "ben")
	do(t, browser, chromedp.Navigate("about:blank"))
	tab, _ := w.tab(t, browser, "/requests/"+q.RequestID)
	other, _ := w.tab(t, browser, "/inbox")
	shut.Store(true)
	cut := time.Now()
	w.server.CloseClientConnections()
	const down = `/^Reconnecting. This page is [34567] s old$/.test(document.querySelector("#live .words").textContent)`
	for _, each := range []context.Context{tab, other} {
		until(t, each, down)
		require.Greater(t, time.Since(cut), 2*time.Second, "a blink is not worth a word")
		until(t, each, `document.querySelector("#said").textContent.includes("Pages still work")`)
	}
	// Deciding does not need the line.
	do(t, tab, chromedp.Click("form.decide button[value=decline]"), chromedp.WaitVisible(".outcome"))
	require.Equal(t, q.RequestID, w.gate.last().RequestID)

	w.ask("b", "Write", `{"path":"b"}`)
	shut.Store(false)
	until(t, other, `document.querySelector("#live").dataset.state === "live" && [...document.querySelectorAll(".card:not(.ended) .sum")].map(s => s.textContent).join() === "b"`)
}

// A network that is gone does not say so: what is silent for longer than the
// heartbeat allows counts as cut.
func TestS14ASilentLineIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *ui.Options) { o.Heartbeat = 300 * time.Millisecond })
	console, silent := w.console.Handler(), &atomic.Bool{}
	w.server.Close()
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/live" || !silent.Load() {
			console.ServeHTTP(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		rw.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	}))
	browser, _ := w.browser(t, "ben")
	until(t, browser, `document.querySelector("#live").dataset.state === "live"`)
	silent.Store(true)
	w.server.CloseClientConnections()
	until(t, browser, `document.querySelector("#live").dataset.state === "lost"`)
	silent.Store(false)
	until(t, browser, `document.querySelector("#live").dataset.state === "live"`)
}

// Who signs out elsewhere is told, and keeps what they typed.
func TestS14WhoIsSignedOutIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *ui.Options) { o.Live.Check = 100 * time.Millisecond })
	w.log.SetNow(time.Now())
	_, q := w.ask("a", "Write", `{"path":"a"}`)
	browser, _ := w.browser(t, "ben")
	do(t, browser, chromedp.Navigate("about:blank"))
	tab, _ := w.tab(t, browser, "/requests/"+q.RequestID)
	do(t, tab, chromedp.SendKeys("form.decide input[name=comment]", "because"))
	other, _ := w.tab(t, browser, "/inbox")
	do(t, other, chromedp.Submit("form.who"), chromedp.WaitVisible("#token"))
	until(t, tab, `document.querySelector("#live").dataset.state === "out"`)
	require.Equal(t, "because", eval[string](t, tab, `document.querySelector("form.decide input[name=comment]").value`))
}

// The page of a call that was approved says how it ended, without a reload.
func TestAnOutcomeComesByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	call, q := w.ask("a", "Write", `{}`)
	w.log.Start(call, &q, w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictApprove, ""))
	w.settle()
	browser, complaints := w.browser(t, "ben")
	tab, _ := w.tab(t, browser, "/requests/"+q.RequestID)
	until(t, tab, `document.querySelector("#outcome").textContent.includes("has started, and runs")`)
	w.log.Result(call, events.StatusOK, events.CauseHuman, "wrote it")
	until(t, tab, `document.querySelector("#outcome").textContent.includes("It ran, with exactly these arguments") && !document.querySelector("#outcome[data-open]")`)
	require.Empty(t, complaints())
}

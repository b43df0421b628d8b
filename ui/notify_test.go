package ui_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// fakeNotices stands in for the desktop: it permits, and keeps what it is told.
const fakeNotices = `(window.notices = [], window.Notification = class {
	static permission = "granted";
	static requestPermission() { return Promise.resolve("granted"); }
	constructor(title, o) { notices.push(title + ": " + o.body); }
}, document.hasFocus = () => false, true)`

// A desktop notice is for whoever asked for it, and holds no arguments.
func TestADesktopNoticeNamesToolAndAgentAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	ctx, complaints := w.browser(t, "ben")
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	eval[bool](t, ctx, fakeNotices)
	w.ask("s1", "Bash", `{"command":"cat hush"}`)
	until(t, ctx, `document.querySelectorAll(".card").length === 1`)
	require.Empty(t, eval[[]string](t, ctx, `notices`), "nobody asked for them")

	do(t, ctx, chromedp.Click("#notify button"))
	until(t, ctx, `document.querySelector("#notify button").textContent === "Stop desktop notices"`)
	w.ask("s2", "Write", `{"path":"hush","content":"hush"}`)
	until(t, ctx, `notices.length === 1`)
	require.Equal(t, []string{"A call waits: Write, deploy-bot / migrator"}, eval[[]string](t, ctx, `notices`))

	do(t, ctx, chromedp.Click("#notify button"))
	w.ask("s3", "Bash", `{"command":"ls"}`)
	until(t, ctx, `document.querySelectorAll(".card").length === 3`)
	require.Len(t, eval[[]string](t, ctx, `notices`), 1)
	require.Empty(t, complaints())
}

// U30: whatever comes, a screen reader hears of it at most every five seconds.
func TestU30AnnouncementsAreFiveSecondsApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	ctx, _ := w.browser(t, "ben")
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	require.Equal(t, "status", eval[string](t, ctx, `document.querySelector("#said").getAttribute("role")`))
	eval[bool](t, ctx, `(window.said = [], new MutationObserver(() => said.push(performance.now())).observe(document.querySelector("#said"), {childList: true, characterData: true, subtree: true}), true)`)
	for i, tool := range []string{"Bash", "Write", "Edit"} {
		w.ask("s"+itoa(i), tool, `{}`)
		until(t, ctx, `document.querySelectorAll(".card").length === `+itoa(i+1))
	}
	until(t, ctx, `said.length > 1`)
	require.GreaterOrEqual(t, eval[float64](t, ctx, `said[1] - said[0]`), 4900.0)
	require.Equal(t, "2 new requests wait, 3 in all.", eval[string](t, ctx, `document.querySelector("#said").textContent`))
}

// Several are chosen in the queue, also while it changes.
func TestChoosingInALiveQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	_, one := w.ask("s1", "Bash", `{"command":"ls a"}`)
	w.ask("s2", "Bash", `{"command":"ls b"}`)
	ctx, complaints := w.browser(t, "ben")
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	const together = `getComputedStyle(document.querySelector(".together")).display`
	require.Equal(t, "none", eval[string](t, ctx, together))
	do(t, ctx, chromedp.Click("#slot-"+one.RequestID+" input"))
	require.Equal(t, "block", eval[string](t, ctx, together))
	w.ask("s3", "Bash", `{"command":"ls c"}`)
	until(t, ctx, `document.querySelectorAll(".card").length === 3`)
	require.Equal(t, 1, eval[int](t, ctx, `document.querySelectorAll("input[name=id]:checked").length`), "what is chosen stays chosen")
	eval[bool](t, ctx, `(document.querySelectorAll("input[name=id]")[2].click(), true)`)
	require.Equal(t, "Decide 2 together", eval[string](t, ctx, `document.querySelector(".together button").textContent`))
	do(t, ctx, chromedp.Click(".together button"), chromedp.WaitVisible(".picks"), chromedp.Click("button[value=approve]"), chromedp.WaitVisible(".results"))
	require.Equal(t, "2 of 2 requests approved", eval[string](t, ctx, `document.querySelector("h2").textContent`))
	require.Equal(t, "next", eval[string](t, ctx, `document.activeElement.id`))
	require.Empty(t, complaints())
}

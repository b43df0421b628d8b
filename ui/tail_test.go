package ui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// Where new rows come, and where not.
func TestOnlyAFirstPageIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.calls(60)
	eve := w.as("eve")
	older := eve.get("/history").doc.Find("a[rel=next]").AttrOr("href", "")
	for path, want := range map[string]string{
		"/history": "/history", "/history?tool=Grep&from=24h": "/history?from=24h&tool=Grep", "/history?tool=None": "/history?tool=None",
		"/history?to=2026-11-30T15:00": "", older: "", "/sessions": "/sessions", "/sessions?to=today": "",
	} {
		tail := eve.get(path).doc.Find("[data-tail]")
		require.Equal(t, want, tail.AttrOr("data-tail", ""), path)
		require.Zero(t, tail.Not("[hidden]").Length(), "of no use without the script")
	}
}

// New calls are offered, and come in by themselves only while somebody follows
// and is not at the table; what is there is kept as it stands.
func TestU27TheTailNeverMovesWhatSomebodyReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	w.calls(3)
	call, q := w.ask("s2", "Bash", `{"command":"ls"}`)
	ctx, complaints := w.browser(t, "eve")
	do(t, ctx, chromedp.Navigate(w.server.URL+"/history"), chromedp.WaitVisible("[data-follow]"))
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	const (
		count = `document.querySelectorAll("[data-rows] tr").length`
		offer = `document.querySelector("[data-show]").hidden ? "" : document.querySelector("[data-show]").textContent`
		at    = `document.querySelector("[data-rows] tr:last-child").getBoundingClientRect().top`
	)
	propose := func(n int) {
		w.log.Propose("s1", "run-s1", "b2", n, "Read", fmt.Sprintf(`{"path":"new-%d"}`, n), events.EffectAllow)
		w.settle()
	}
	do(t, ctx, chromedp.Focus("[data-rows] tr:last-child a"))
	before := eval[float64](t, ctx, at)
	propose(0)
	until(t, ctx, offer+` === "1 new, show"`)
	until(t, ctx, `document.querySelector("#said").textContent === "1 new call."`)
	require.Equal(t, 4, eval[int](t, ctx, count))
	require.InDelta(t, before, eval[float64](t, ctx, at), 0.5, "the row that has the focus stays where it is")

	// A row that is there tells how its call stands.
	w.log.Decide(q, w.log.Person("p-ben", "Ben", "reviewer"), events.VerdictDecline, "no")
	w.log.Result(call, events.StatusDeclined, events.CauseHuman, "no")
	w.settle()
	until(t, ctx, `document.querySelector("[data-rows] tr").textContent.includes("Declined")`)
	require.InDelta(t, before, eval[float64](t, ctx, at), 0.5)

	do(t, ctx, chromedp.Click("[data-show]"))
	until(t, ctx, count+` === 5 && (`+offer+`) === ""`)
	require.Equal(t, "new-0", eval[string](t, ctx, `document.querySelector("[data-rows] tr .args").textContent.trim()`))

	// Following: by itself, but not while the focus is in the table.
	do(t, ctx, chromedp.Click("[data-follow]"))
	propose(1)
	until(t, ctx, count+" === 6")
	do(t, ctx, chromedp.Focus("[data-rows] a"))
	propose(2)
	until(t, ctx, offer+` === "1 new, show"`)
	require.Equal(t, 6, eval[int](t, ctx, count))
	require.Equal(t, "Pause", eval[string](t, ctx, `document.querySelector("[data-follow]").textContent`))
	do(t, ctx, chromedp.Click("[data-follow]"))
	propose(3)
	until(t, ctx, offer+` === "2 new, show"`)

	// More than an answer holds are loaded, not put in.
	for n := 4; n < 110; n++ {
		w.log.Propose("s1", "run-s1", "b2", n, "Read", `{}`, events.EffectAllow)
	}
	w.settle()
	until(t, ctx, offer+` === "more than 40 new, load"`)
	require.Equal(t, 6, eval[int](t, ctx, count))
	do(t, ctx, chromedp.Click("[data-show]"))
	until(t, ctx, count+" === 40")
	require.Empty(t, complaints())
}

// A call that a filter does not fit any more is marked, and stays.
func TestACallThatLeavesTheListIsMarked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	_, q := w.ask("s1", "Bash", `{}`)
	ctx, complaints := w.browser(t, "eve")
	do(t, ctx, chromedp.Navigate(w.server.URL+"/history?state=waiting"), chromedp.WaitVisible("[data-follow]"))
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	w.log.Decide(q, w.log.Person("p-ben", "Ben", "reviewer"), events.VerdictApprove, "")
	until(t, ctx, `document.querySelector("tr.stale")?.textContent.includes("no longer in this list")`)
	require.Empty(t, complaints())
}

// The list of sessions tells how each stands.
func TestSessionsTellHowTheyStand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	_, q := w.ask("s1", "Bash", `{}`)
	ctx, complaints := w.browser(t, "eve")
	do(t, ctx, chromedp.Navigate(w.server.URL+"/sessions"), chromedp.WaitVisible("[data-follow]"))
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	require.Contains(t, eval[string](t, ctx, `document.querySelector("[data-rows]").textContent`), "1 request waits")
	w.log.Decide(q, w.log.Person("p-ben", "Ben", "reviewer"), events.VerdictApprove, "")
	until(t, ctx, `document.querySelector("[data-rows]").textContent.includes("Running")`)
	w.log.Run("s2", "carla", "another")
	until(t, ctx, `document.querySelector("[data-show]").textContent === "1 new, show"`)
	require.Empty(t, complaints())
}

// The first call of a filter comes into a page that was empty.
func TestTheFirstCallComesIntoAnEmptyHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	ctx, complaints := w.browser(t, "eve")
	do(t, ctx, chromedp.Navigate(w.server.URL+"/history?tool=Bash"), chromedp.WaitVisible("[data-follow]"))
	require.Contains(t, eval[string](t, ctx, `document.querySelector("[data-empty]").textContent`), "No call matches these filters.")
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	w.ask("s1", "Write", `{}`)
	w.ask("s2", "Bash", `{"command":"make"}`)
	until(t, ctx, `document.querySelector("[data-show]").textContent === "1 new, show"`)
	do(t, ctx, chromedp.Click("[data-show]"), chromedp.WaitVisible("[data-rows] tr"))
	require.Equal(t, "make", eval[string](t, ctx, `document.querySelector("[data-rows] .args").textContent.trim()`))
	require.False(t, eval[bool](t, ctx, `!!document.querySelector("[data-empty]")`))
	require.Empty(t, complaints())
}

package ui_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// What somebody else decides is said in its row; nothing moves, and it is no
// longer chosen.
func TestS14RowsThatAreDecidedTogetherStayTrue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	_, one := w.ask("s1", "Bash", `{"command":"ls a"}`)
	_, two := w.ask("s2", "Bash", `{"command":"ls b"}`)
	_, third := w.ask("s3", "Bash", `{"command":"ls c"}`)
	ctx, complaints := w.browser(t, "ben")
	do(t, ctx, chromedp.Navigate(w.server.URL+selectPath(one.RequestID, two.RequestID, third.RequestID)))
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	const places = `JSON.stringify([scrollY, ...[...document.querySelectorAll(".picks > li, .picks .row, .picks pre, .decide")].map((e) => {
		const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })])`
	before := eval[string](t, ctx, places)
	dana := w.log.Person("p-dana", "Dana", "reviewer")
	w.log.Decide(two, dana, events.VerdictDecline, "")
	const row = `document.querySelectorAll(".picks > li")`
	until(t, ctx, row+`[1].querySelector(".fate").textContent.includes("Declined by Dana")`)
	require.JSONEq(t, before, eval[string](t, ctx, places), "nothing moves")
	require.True(t, eval[bool](t, ctx, row+`[1].querySelector("input").disabled && !`+row+`[1].querySelector("input").checked`))
	require.True(t, eval[bool](t, ctx, row+`[0].querySelector("input").checked && !`+row+`[0].querySelector("input").disabled`))
	until(t, ctx, `document.querySelector("#said").textContent.startsWith("Call 2: Declined by Dana")`)

	w.log.Modify(third, dana, `{"command":"ls d"}`)
	until(t, ctx, row+`[2].querySelector("input").disabled`)
	require.JSONEq(t, before, eval[string](t, ctx, places))
	require.False(t, eval[bool](t, ctx, `document.querySelector(".together-form button[value=approve]").disabled`))
	w.log.Decide(one, dana, events.VerdictDecline, "")
	until(t, ctx, `[...document.querySelectorAll(".together-form button[name=verdict]")].every((b) => b.disabled)`)
	require.Empty(t, complaints())
}

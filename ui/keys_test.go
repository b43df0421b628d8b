package ui_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// press types keys where the focus is, as a keyboard does: what a page forbids at
// the key's way down is not typed.
func press(t *testing.T, ctx context.Context, keys string) { //nolint:revive // t goes first in tests
	t.Helper()
	do(t, ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, r := range keys {
			sent := kb.Encode(r)
			down, up := *sent[0], *sent[len(sent)-1]
			if len(sent) == 3 {
				down.Text = sent[1].Text
			}
			for _, e := range []input.DispatchKeyEventParams{down, up} {
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, e); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// leave takes the focus away from what has it.
func leave(t *testing.T, ctx context.Context) { //nolint:revive // as above
	t.Helper()
	require.True(t, eval[bool](t, ctx, `(document.activeElement.blur(), true)`))
}

const focused = `document.activeElement.dataset?.key || document.activeElement.id || document.activeElement.name || document.activeElement.className || document.activeElement.tagName`

// A reviewer's day by keyboard alone.
func TestADayByKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	_, one := w.ask("s1", "Bash", `{"command":"ls"}`)
	_, two := w.ask("s2", "Write", `{"path":"a","content":"x"}`)
	_, third := w.ask("s3", "Bash", `{"command":"pwd"}`)
	ctx, complaints := w.browser(t, "ben")
	do(t, ctx, chromedp.WaitVisible(".decide [data-key=a]"))
	until(t, ctx, `document.body.dataset.keys === "on"`)

	press(t, ctx, "j")
	require.Equal(t, "card-"+two.RequestID, eval[string](t, ctx, focused))
	press(t, ctx, "k")
	require.Equal(t, "card-"+one.RequestID, eval[string](t, ctx, focused))
	press(t, ctx, "x")
	require.True(t, eval[bool](t, ctx, `document.querySelector("input[name=id]").checked`))
	press(t, ctx, "x")
	press(t, ctx, "j"+kb.Enter)
	until(t, ctx, `document.querySelector("#request")?.dataset.request === "`+two.RequestID+`" && document.body.dataset.keys === "on"`)

	press(t, ctx, "a")
	require.Equal(t, "a", eval[string](t, ctx, focused))
	require.Zero(t, w.gate.count(), "one stroke approves nothing")
	press(t, ctx, "a")
	until(t, ctx, `document.activeElement.id === "next"`)
	require.Equal(t, events.VerdictApprove, w.gate.last().Verdict)
	press(t, ctx, kb.Enter)
	until(t, ctx, `document.querySelector("#request")?.dataset.request === "`+one.RequestID+`" && document.body.dataset.keys === "on"`)

	press(t, ctx, "d")
	require.Equal(t, "comment", eval[string](t, ctx, focused))
	press(t, ctx, "not a day for it")
	require.Equal(t, "Declined by a reviewer (Ben Okafor). The reviewer's comment: not a day for it\n The tool was not run.", eval[string](t, ctx, `document.querySelector("#told").textContent`))
	press(t, ctx, kb.Enter)
	require.Equal(t, 1, w.gate.count(), "Enter leads to the button")
	require.Equal(t, "d", eval[string](t, ctx, focused))
	press(t, ctx, kb.Enter)
	until(t, ctx, `document.activeElement.id === "next"`)
	require.Equal(t, "not a day for it", w.gate.last().Comment)
	require.Equal(t, events.VerdictDecline, w.gate.last().Verdict)

	press(t, ctx, kb.Enter)
	until(t, ctx, `document.querySelector("#request")?.dataset.request === "`+third.RequestID+`" && document.body.dataset.keys === "on"`)
	press(t, ctx, "e")
	require.Equal(t, "arguments", eval[string](t, ctx, focused))
	press(t, ctx, "gi")
	require.Contains(t, eval[string](t, ctx, `document.activeElement.value`), "gi", "in a field letters are letters")
	leave(t, ctx)
	press(t, ctx, "gs")
	until(t, ctx, `location.pathname === "/sessions"`)
	require.Empty(t, complaints())
}

// U28: switched off no letter acts; switched on none acts in a field, on
// auto-repeat, with a modifier or while a dialog is open.
func TestU28ShortcutsActOnlyWhereTheyShould(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	w.ask("s1", "Bash", `{"command":"ls"}`)
	w.ask("s2", "Bash", `{"command":"pwd"}`)
	ctx, complaints := w.browser(t, "ben")
	do(t, ctx, chromedp.WaitVisible(".decide [data-key=a]"))
	until(t, ctx, `document.body.dataset.keys === "on"`)
	still := func(why string) {
		t.Helper()
		require.Equal(t, "BODY", eval[string](t, ctx, focused), why)
		require.Zero(t, w.gate.count(), why)
	}

	press(t, ctx, "?")
	do(t, ctx, chromedp.WaitVisible("dialog#help[open]"))
	require.Contains(t, eval[string](t, ctx, `document.querySelector("#help").textContent`), "a again, or Enter, approves exactly what is shown")
	press(t, ctx, "a")
	require.NotEqual(t, "a", eval[string](t, ctx, focused), "a dialog is open")
	do(t, ctx, chromedp.Click("#help > .btn"))
	until(t, ctx, `!document.querySelector("dialog[open]")`)
	leave(t, ctx)
	for _, m := range []chromedp.Modifier{chromedp.ModifierCtrl, chromedp.ModifierAlt, chromedp.ModifierMeta} {
		do(t, ctx, chromedp.KeyEvent("a", chromedp.KeyModifiers(m)))
		still("a modifier is held")
	}
	eval[bool](t, ctx, `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "a", repeat: true, bubbles: true}))`)
	still("auto-repeat")
	do(t, ctx, chromedp.Click(".decide input[name=comment]"))
	press(t, ctx, "jad?")
	require.Equal(t, "jad?", eval[string](t, ctx, `document.activeElement.value`), "letters are letters in a field")
	press(t, ctx, kb.Enter)
	require.Zero(t, w.gate.count(), "Enter in the comment decides nothing")

	do(t, ctx, chromedp.Navigate(w.server.URL+"/keys"), chromedp.WaitVisible("[data-keys-switch]"), chromedp.Click("[data-keys-switch]"))
	until(t, ctx, `document.querySelector("[data-keys-switch]").textContent === "Switch shortcuts on"`)
	do(t, ctx, chromedp.Navigate(w.server.URL+"/inbox"), chromedp.WaitVisible(".decide [data-key=a]"))
	until(t, ctx, `document.body.dataset.keys === "off"`)
	press(t, ctx, "jaadex?u/gs")
	still("switched off")
	require.Equal(t, "none", eval[string](t, ctx, `getComputedStyle(document.querySelector(".decide kbd")).display`))
	require.Equal(t, "/inbox", eval[string](t, ctx, `location.pathname`))
	require.Empty(t, complaints())
}

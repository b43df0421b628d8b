package main_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience bounds what a test waits for in a page.
const patience = 20 * time.Second

// browser is a Chromium with an empty profile, and a tab in it.
type browser struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps browser and tab in it

	mu         sync.Mutex
	complaints []string // mu; what the console of the tab holds: errors, warnings, violations
}

// newBrowser starts a Chromium that reaches this machine alone. It ends with
// the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		needed(t, "the console is tested in Chromium, and there is none", err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE countersign.localhost"),
		chromedp.Env("HOME="+t.TempDir()),
	)
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stopTab := chromedp.NewContext(ctx)
	t.Cleanup(stopTab)
	b := &browser{t: t, ctx: ctx}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"))) // this starts the browser, which ends with its context
	go b.listen()
	return b
}

// listen gathers what pages complain about.
func (b *browser) listen() {
	for m, err := range chromedp.Console(b.ctx) {
		if err != nil {
			return
		}
		if m.Type == chromedp.ConsoleLog || m.Type == chromedp.ConsoleDebug || m.Type == chromedp.ConsoleInfo {
			continue
		}
		b.mu.Lock()
		b.complaints = append(b.complaints, m.Source+" "+m.String()+" "+m.URL)
		b.mu.Unlock()
	}
}

// complained returns what pages complained about so far.
func (b *browser) complained() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.complaints
}

// do runs actions, each within patience.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	for i, a := range actions {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		err := chromedp.Do(ctx, a)
		cancel()
		require.NoError(b.t, err, "action %d, on the page:\n%s", i, b.body())
	}
}

// withoutScripts turns scripts off in the tab.
func (b *browser) withoutScripts() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// open opens an address.
func (b *browser) open(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address))
}

// leave clicks on what leads to another page, and returns that page's status.
func (b *browser) leave(selector string) int {
	b.t.Helper()
	return b.leaves(chromedp.Click(chromedp.CSS(selector)))
}

// leaves does what leads to another page, and returns that page's status.
func (b *browser) leaves(by chromedp.Action[chromedp.Void]) int {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, by)
	require.NoError(b.t, err, "on %s", b.body())
	return int(response.Status)
}

// see waits until an element is visible.
func (b *browser) see(selector string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(selector)))
}

// text returns the text of an element, as it is shown.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return value(b, chromedp.Text(chromedp.CSS(selector)))
}

// html is the page as it stands.
func (b *browser) html() string {
	b.t.Helper()
	return value(b, chromedp.OuterHTML(chromedp.CSS("html")))
}

// body is the text of the page, for messages.
func (b *browser) body() string {
	ctx, cancel := context.WithTimeout(b.ctx, time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("body")))
	if err != nil {
		return err.Error()
	}
	return text
}

// location is the path of the page, with its query.
func (b *browser) location() string {
	b.t.Helper()
	address := value(b, chromedp.Location())
	_, path, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")
	return "/" + path
}

// value runs an action that returns something.
func value[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	require.NoError(b.t, err)
	return v
}

// screenshots is the folder that COUNTERSIGN_SCREENSHOTS names, or "".
func screenshots() string { return os.Getenv("COUNTERSIGN_SCREENSHOTS") }

package main_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// U24: everything once without JavaScript, in Chromium and against the real
// program: each form, each filter, each list, each download, with the status of
// every page and what it shows. No page complains.
func TestEverythingOnceWithoutScripts(t *testing.T) {
	v := newBare(t)
	v.goThrough(t, []step{
		{"sign in", v.signIn},
		{"tabs of the inbox", v.tabs},
		{"read a request", v.read},
		{"change, look, approve", v.change},
		{"decline", v.decline},
		{"decide two together", v.together},
		{"filter the history", v.filters},
		{"search", v.search},
		{"page through the history", v.paging},
		{"export the history", v.export},
		{"a call and its records", v.call},
		{"sessions", v.sessions},
		{"a session", v.session},
		{"tools", v.tools},
		{"insights", v.insights},
		{"access", v.access},
		{"system and runbooks", v.system},
		{"shortcuts are not offered", v.shortcuts},
		{"sign out", v.signOut},
	})
	for _, c := range v.browser.complained() {
		require.Regexp(t, `a status of (401|422) `, c, "the browser notes what was refused, and nothing else")
	}
}

// bare is a day in a browser that runs no scripts.
type bare struct {
	*day

	downloads string // where the browser puts what it downloads
	huge      string // a request whose arguments no page shows whole
	many      string // a session of more records than a page has
}

// Of a list of calls that is longer than a page: how many a page has, and how
// many calls the session of many has.
const (
	rowsOfAPage = 40
	manyCalls   = 60
)

func newBare(t *testing.T) *bare {
	t.Helper()
	v := &bare{day: newDay(t), downloads: t.TempDir()}
	as := v.agentd.as(agentToken)
	s := as.begin(t, plan{{{"Write", `{"path":"huge.txt","content":"` + strings.Repeat("of much use ", 30_000) + `the end"}`}}}.query())
	v.huge = s.until(t, "approval_request").RequestID
	var tallies []ask
	for range manyCalls / 2 {
		tallies = append(tallies, count("Tally", "many"))
	}
	s = as.begin(t, plan{tallies, tallies}.query())
	require.Equal(t, "STOP", s.rest(t).Reason)
	v.many = s.conversation
	v.browser.withoutScripts()
	v.browser.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: v.downloads,
		})
		return err
	}))
	return v
}

// open opens a page by its address, as a bookmark does.
func (v *bare) open(path string) {
	v.t.Helper()
	response := value(v.browser, chromedp.NavigateResponse(v.agentd.console()+path))
	require.Equal(v.t, 200, int(response.Status), path)
}

// follow clicks on what leads to a page, which is there.
func (v *bare) follow(selector, to string) {
	v.t.Helper()
	require.Equal(v.t, 200, v.browser.leave(selector), selector)
	require.Truef(v.t, strings.HasPrefix(v.browser.location(), to), "%s leads to %s, not to %s", selector, v.browser.location(), to)
}

// main is what the page says, besides what stands around every page.
func (v *bare) main() string {
	v.t.Helper()
	return v.browser.text("#main")
}

// count counts what there is on the page.
func (v *bare) count(selector string) int {
	v.t.Helper()
	return value(v.browser, chromedp.Evaluate[int](`document.querySelectorAll(`+quoted(selector)+`).length`))
}

// hidden holds that something that only a script makes work is not shown.
func (v *bare) hidden(selector string) {
	v.t.Helper()
	require.NotZero(v.t, v.count(selector), selector)
	require.False(v.t, value(v.browser, chromedp.Evaluate[bool](`[...document.querySelectorAll(`+quoted(selector)+`)].some(e => e.checkVisibility())`)), "%s needs a script", selector)
}

// download clicks on what downloads a file, and returns its name and what is in
// it.
func (v *bare) download(selector string) (name, text string) {
	v.t.Helper()
	v.browser.do(chromedp.Click(chromedp.CSS(selector)))
	eventually(v.t, "something is downloaded", func() bool {
		files, err := os.ReadDir(v.downloads)
		require.NoError(v.t, err)
		if len(files) != 1 || strings.HasPrefix(files[0].Name(), ".") || strings.HasSuffix(files[0].Name(), ".crdownload") {
			return false
		}
		name = files[0].Name()
		return true
	})
	path := filepath.Join(v.downloads, name)
	b, err := os.ReadFile(path)
	require.NoError(v.t, err)
	require.NoError(v.t, os.Remove(path))
	return name, string(b)
}

func (v *bare) signIn() {
	v.open("/sign-in")
	v.browser.do(chromedp.SendKeys(chromedp.CSS("#token"), strangerToken))
	require.Equal(v.t, 401, v.browser.leave("#token + input + button"))
	require.Contains(v.t, v.browser.text("[role=alert]"), "token")
	v.browser.open(v.agentd.link)
	v.follow("form.panel button", "/inbox")
	require.Equal(v.t, 7, v.count(".card"))
	require.Contains(v.t, v.browser.text("#live"), "As of", "it does not say that it is live")
	v.hidden("#notify")
}

func (v *bare) tabs() {
	for _, tab := range []struct{ selector, path, shows string }{
		{`.tabs a[href*="asker="]`, "/history?asker=", "No call"},
		{`.tabs a[href*="decider="]`, "/history?decider=", "No call"},
		{`.tabs a[href*="expired"]`, "/history?state=expired", "No call"},
		{`.tabs a[aria-current]`, "/inbox", "Waiting"},
	} {
		v.open("/inbox")
		v.follow(tab.selector, tab.path)
		require.Contains(v.t, v.main(), tab.shows, tab.path)
	}
}

func (v *bare) read() {
	v.follow(card(v.huge), "/requests/"+v.huge)
	require.NotContains(v.t, v.main(), "the end\"")
	v.follow(`.arguments a[href*="/text"]`, "/requests/"+v.huge+"/text")
	v.follow(`.pager a[rel=next]`, "/requests/"+v.huge+"/text")
	require.Contains(v.t, v.main(), "Earlier")
	name, text := v.download(".head a + a")
	require.Contains(v.t, name, ".json")
	require.Truef(v.t, strings.HasSuffix(text, `the end"}`) && len(text) > 300_000, "%d bytes, to the end", len(text))
	v.follow(".head a", "/requests/"+v.huge)

	v.open("/requests/" + v.long)
	v.browser.do(chromedp.Click(chromedp.CSS(".arguments [data-layout=laid] summary")))
	require.True(v.t, strings.Contains(v.browser.text(".arguments [data-layout=laid] details pre"), "the last line"), "what is folded away unfolds") //nolint:testifylint // the text is long
	v.browser.do(chromedp.Click(chromedp.CSS(".about summary")))
	require.Contains(v.t, v.browser.text(".about details"), v.long[:8])
}

func (v *bare) change() {
	b := v.browser
	v.open("/requests/" + v.write)
	v.follow("[data-change]", "/requests/"+v.write+"?change=1")
	require.Zero(v.t, v.count(".decide .yes"), "beside an open field nothing else is approved")
	b.do(chromedp.SetValue(chromedp.CSS("#arguments"), `{"path":`))
	require.Equal(v.t, 422, b.leave("#change-all button"))
	require.Contains(v.t, b.text("[role=alert]"), "cannot run")
	b.do(chromedp.SetValue(chromedp.CSS("#arguments"), `{"path":"note.txt","content":"as the reviewer wants it\n"}`))
	v.follow("#change-all button", "/requests/"+v.write+"/change")
	require.Contains(v.t, b.text(".diff"), "as the reviewer wants it")
	b.do(chromedp.SendKeys(chromedp.CSS(".decide input[name=comment]"), "mine"+kb.Enter))
	require.NoFileExists(v.t, v.home.path("workspace", "note.txt"), "Enter decides nothing")
	v.follow(".decide .yes", "/requests/"+v.write+"?decided=1")
	require.Contains(v.t, b.text(".outcome"), "pproved with changes")
	require.Equal(v.t, "next", b.ask(`document.activeElement.id`), "the way on has the focus")
	eventually(v.t, "what was changed has run", func() bool {
		written, err := os.ReadFile(v.home.path("workspace", "note.txt"))
		return err == nil && string(written) == "as the reviewer wants it\n"
	})
}

func (v *bare) decline() {
	v.open("/requests/" + v.bash)
	v.browser.do(chromedp.SendKeys(chromedp.CSS(".decide input[name=comment]"), "Use git clean, on a branch."))
	v.follow(".decide .nay", "/requests/"+v.bash+"?decided=1")
	require.Contains(v.t, v.browser.text(".outcome"), "Use git clean, on a branch.")
	v.follow("#next", "/requests/"+v.long)
}

func (v *bare) together() {
	b := v.browser
	v.open("/inbox")
	v.hidden(".together button") // it comes with a choice
	for _, request := range v.counts[:2] {
		b.do(chromedp.Click(chromedp.CSS(`[id="slot-` + request + `"] input`)))
	}
	v.follow(".together button", "/inbox/select")
	require.Equal(v.t, 2, v.count(".picks > li"))
	b.do(chromedp.SendKeys(chromedp.CSS(".decide input[name=comment]"), "both are fine"))
	v.follow(".decide .yes", "/inbox/decide")
	require.Contains(v.t, b.text("#outcome"), "2 of 2 requests approved")
	eventually(v.t, "both have run", func() bool { return v.home.executed(`{"key":"one"}`) && v.home.executed(`{"key":"two"}`) })
	v.follow(".results a", "/requests/"+v.counts[0])
	require.False(v.t, v.home.executed(`{"key":"three"}`))
}

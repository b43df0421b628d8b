package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The whole way in Chromium: sign in by the link, see a request come, change
// its arguments, approve; exactly the changed call runs, and history and
// session tell it. A decline's comment reaches the model. With scripts the
// request comes by itself; without, after a reload; all else is the same.
func TestConsole(t *testing.T) {
	for name, scripts := range map[string]bool{"with scripts": true, "without scripts": false} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			p := h.start()
			b := newBrowser(t)
			if !scripts {
				b.withoutScripts()
			}
			v := visit{t, h, p, b, scripts}
			v.signIn()
			v.modify()
			v.decline()
			require.Empty(t, b.complained(), "console errors, or violations of the Content-Security-Policy")
			p.stop()
			c := check(readLog(t, h.path("data", "journal.db")))
			c.ended()
			require.Empty(t, c.problems)
		})
	}
}

// visit is a reviewer's visit.
type visit struct {
	t       *testing.T
	home    *home
	agentd  *process
	browser *browser
	scripts bool
}

// signIn signs in by the link that agentd printed: opening it shows a button,
// and signs nobody in.
func (v visit) signIn() {
	v.t.Helper()
	b := v.browser
	b.open(v.agentd.link)
	require.Contains(v.t, b.text("form.panel"), "It works once, for ten minutes")
	require.Equal(v.t, 200, b.leave("form.panel button"))
	require.Equal(v.t, "/inbox", b.location())
	require.Contains(v.t, b.text("#queue"), "Nothing waits")
}

// arrives waits for the card of a request in the inbox, and opens it.
func (v visit) arrives(request string) {
	v.t.Helper()
	b := v.browser
	card := `[id="card-` + request + `"]`
	if v.scripts {
		b.see(card) // nobody reloads the page
	} else {
		require.Contains(v.t, b.text("#live"), "As of", "no script runs")
		eventually(v.t, "the request is in the inbox", func() bool {
			b.open(v.agentd.console() + "/inbox")
			return strings.Contains(b.html(), request)
		})
	}
	require.Equal(v.t, 200, b.leave(card))
	require.Equal(v.t, "/requests/"+request, b.location())
}

func (v visit) modify() {
	v.t.Helper()
	b := v.browser
	query := plan{{{"Write", `{"path":"note.txt","content":"as the model wants it\n"}`}}}.query()
	s := v.agentd.as(agentToken).begin(v.t, query)
	request := s.until(v.t, "approval_request").RequestID
	v.arrives(request)
	require.Contains(v.t, b.text(".arguments"), "as the model wants it")
	require.Regexp(v.t, `Asked by\s+agent\s`, b.text(".facts"))
	if v.scripts {
		b.do(chromedp.Click(chromedp.CSS("[data-change]")))
	} else {
		require.Equal(v.t, 200, b.leave("[data-change]"))
	}
	b.see("#arguments")
	b.do(chromedp.SetValue(chromedp.CSS("#arguments"), `{"path":"note.txt","content":"as the reviewer wants it\n"}`))
	require.Equal(v.t, 200, b.leave("#change-all button"))
	diff := b.text(".diff")
	require.Contains(v.t, diff, "as the model wants it")
	require.Contains(v.t, diff, "as the reviewer wants it")
	require.NoFileExists(v.t, v.home.path("workspace", "note.txt"), "nothing is decided yet")

	require.Equal(v.t, 200, b.leave(".decide .btn.yes"))
	require.Equal(v.t, "STOP", s.rest(v.t).Reason)
	written, err := os.ReadFile(v.home.path("workspace", "note.txt"))
	require.NoError(v.t, err)
	require.Equal(v.t, "as the reviewer wants it\n", string(written))
	require.Contains(v.t, v.home.model.told(query, callID(0, 0)), "as the reviewer wants it", "the model is told of the change")

	require.Equal(v.t, "/requests/"+request+"?decided=1", b.location())
	require.Contains(v.t, b.text(".outcome"), "pproved")
	b.open(v.agentd.console() + "/session?id=" + s.conversation)
	session := b.text("#main")
	require.Contains(v.t, session, "approved Write with changes")
	require.Contains(v.t, session, "wrote 25 bytes to note.txt")
	b.open(v.agentd.console() + "/history")
	require.Contains(v.t, b.text("#main"), "Write")
	require.Equal(v.t, 200, b.leave(`#main a[href^="/call"]`))
	require.Contains(v.t, b.text("#main"), "as the reviewer wants it")
	b.open(v.agentd.console() + "/inbox")
}

func (v visit) decline() {
	v.t.Helper()
	b := v.browser
	query := plan{{{"Bash", `{"command":"rm -rf ."}`}}}.query()
	s := v.agentd.as(agentToken).begin(v.t, query)
	v.arrives(s.until(v.t, "approval_request").RequestID)
	b.do(chromedp.SendKeys(chromedp.CSS(".decide input[name=comment]"), "Use git clean, on a branch."))
	require.Equal(v.t, 200, b.leave(".decide .btn.nay"))
	require.Contains(v.t, b.text(".outcome"), "Use git clean, on a branch.")
	require.Equal(v.t, "STOP", s.rest(v.t).Reason)
	require.Contains(v.t, v.home.model.told(query, callID(0, 0)), "Use git clean, on a branch.")
	require.FileExists(v.t, v.home.path("workspace", "note.txt"))
}

// A link that was used shows why it does not work any more, and signs nobody
// in.
func TestConsoleLinkOnce(t *testing.T) {
	h := newHome(t)
	p := h.start()
	p.signIn()
	b := newBrowser(t)
	b.open(p.link)
	require.Equal(t, 401, b.leave("form.panel button"))
	require.Contains(t, b.text("[role=alert]"), "link")
	b.open(p.console() + "/inbox")
	require.NotContains(t, b.text("body"), "Nothing waits")
	for _, c := range b.complained() {
		require.Contains(t, c, "401", "the browser notes the refusal, and nothing else")
	}
}

package main_test

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first demo asks for decisions; the second finds what was decided in the
// first, and what still waits.
func TestDemoTwice(t *testing.T) {
	dir := t.TempDir()
	args := []string{"demo", "--dir", "demo", "--addr", "127.0.0.1:0"}
	p := launch(t, dir, args...)
	who := p.signIn()
	request := regexp.MustCompile(`href="(/requests/[0-9a-f-]{36})"`)
	var waiting []string
	eventually(t, "the demo asks", func() bool {
		waiting = nil
		for _, m := range request.FindAllStringSubmatch(who.page("/inbox"), -1) {
			waiting = append(waiting, m[1])
		}
		return len(waiting) >= 3
	})
	status, page := who.post(waiting[0]+"/decide", formOf(t, who.page(waiting[0]), "decline", "not today, please"))
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "not today, please")
	p.stop()

	p = launch(t, dir, args...)
	p.said(`\d+ sessions of the last demo still wait for you`)
	who = p.signIn()
	require.Contains(t, who.page(waiting[0]), "not today, please")
	eventually(t, "what still waits is in the inbox", func() bool { return request.MatchString(who.page("/inbox")) })
	require.Regexp(t, `(?i)declined`, who.page("/history"))
	p.stop()
}

// formOf fills in a page's form of a decision.
func formOf(t *testing.T, page, verdict, comment string) url.Values {
	t.Helper()
	form := url.Values{"verdict": {verdict}, "comment": {comment}}
	for _, name := range []string{"digest", "render", "key"} {
		found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
		require.NotNil(t, found, "%s in %s", name, page)
		form.Set(name, found[1])
	}
	return form
}

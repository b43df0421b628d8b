package main_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// person is somebody at the console with a browser that has no scripts, here
// for what needs none.
type person struct {
	t    *testing.T
	base string
	http *http.Client
}

func newPerson(t *testing.T, base string) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &person{t, base, &http.Client{Jar: jar}}
}

// signIn signs in with the link that agentd printed.
func (p *process) signIn() *person {
	p.t.Helper()
	who := newPerson(p.t, p.base)
	status, page := who.redeem(p.link)
	require.Equal(p.t, http.StatusOK, status, page)
	return who
}

// redeem posts the form that a sign-in link opens, and follows where it leads.
func (w *person) redeem(link string) (status int, page string) {
	w.t.Helper()
	u, err := url.Parse(link)
	require.NoError(w.t, err)
	return w.post("/sign-in", url.Values{"link": {u.Query().Get("link")}, "next": {""}})
}

func (w *person) post(path string, form url.Values) (status int, page string) {
	w.t.Helper()
	resp, err := w.http.PostForm(w.base+path, form)
	require.NoError(w.t, err)
	return w.read(resp)
}

func (w *person) page(path string) string {
	w.t.Helper()
	_, page := w.get(path)
	return page
}

func (w *person) get(path string) (status int, page string) {
	w.t.Helper()
	resp, err := w.http.Get(w.base + path)
	require.NoError(w.t, err)
	return w.read(resp)
}

func (w *person) read(resp *http.Response) (status int, page string) {
	w.t.Helper()
	defer resp.Body.Close()
	var b strings.Builder
	_, err := io.Copy(&b, resp.Body)
	require.NoError(w.t, err)
	return resp.StatusCode, b.String()
}

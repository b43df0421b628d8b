package ui

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
)

// signInView is the page to sign in by.
type signInView struct {
	Link string // the secret of a one-time link, to be posted; "" where there is none
	Next string // where to go then
	Said string // why the last try failed
}

// signInPage shows a form and does nothing: a link that somebody's mail scanner
// follows must not be used up by it.
func (c *Console) signInPage(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	if err := only(r, "link", "next"); err != nil {
		return err
	}
	q := r.URL.Query()
	return c.signInForm(w, r, http.StatusOK, signInView{Link: sendable(q.Get("link")), Next: local(q.Get("next"))})
}

func (c *Console) signInForm(w http.ResponseWriter, r *http.Request, status int, v signInView) error {
	return c.page(w, r, status, c.shell(auth.Identity{}, "Sign in", ""), signInPage(v))
}

// signIn begins a session by a one-time link or a person's token.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" {
		return errForm
	}
	next := local(r.PostForm.Get("next"))
	cookie, who, err := c.credentials(r)
	if err == nil && !mayRead(who) {
		err = errors.Join(errNoRole, c.opt.Auth.SignOut(r.Context(), cookie))
	}
	if err != nil {
		return c.signInRefused(w, r, who, next, err)
	}
	http.SetCookie(w, c.opt.Site.Cookie(r, cookie))
	c.record(r.Context(), &events.Access{Action: "sign-in", Outcome: events.AccessOK, Actor: who.Actor()}, "")
	http.Redirect(w, r, cmp.Or(next, "/inbox"), http.StatusSeeOther) //nolint:gosec // local lets only paths of ours through
	return nil
}

func (c *Console) credentials(r *http.Request) (string, auth.Identity, error) {
	if link := r.PostForm.Get("link"); link != "" {
		return c.opt.Auth.Redeem(r.Context(), link)
	}
	return c.opt.Auth.SignInWithToken(r.Context(), strings.TrimSpace(r.PostForm.Get("token")))
}

func (c *Console) signInRefused(w http.ResponseWriter, r *http.Request, who auth.Identity, next string, err error) error {
	status := http.StatusUnauthorized
	known := false
	for _, e := range []error{auth.ErrBadCredentials, auth.ErrBadLink, auth.ErrNotAPerson, auth.ErrNoLocalAdmin, errNoRole} {
		known = known || errors.Is(err, e)
	}
	if !known {
		return err
	}
	if errors.Is(err, errNoRole) || errors.Is(err, auth.ErrNotAPerson) {
		status = http.StatusForbidden
	}
	c.recordRefusedSignIn(r.Context(), who, err)
	return c.signInForm(w, r, status, signInView{Next: next, Said: err.Error()})
}

// recordRefusedSignIn records refused tries: anybody can make them, so one of a
// kind a minute stands for more.
func (c *Console) recordRefusedSignIn(ctx context.Context, who auth.Identity, err error) {
	minute := c.now().Truncate(time.Minute)
	if !c.viewed.first("", "sign-in "+minute.String()+err.Error(), c.now().Truncate(time.Hour)) {
		return
	}
	a := &events.Access{Action: "sign-in", Outcome: events.AccessRefused, Reason: clip(err.Error())}
	if who.Person != "" {
		a.Actor = who.Actor()
	}
	c.record(ctx, a, "")
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	if cookie, err := r.Cookie(c.opt.Site.CookieName(r)); err == nil {
		who, known := c.opt.Auth.FromRequest(r)
		if err := c.opt.Auth.SignOut(r.Context(), cookie.Value); err != nil {
			return err
		}
		if known == nil {
			c.record(r.Context(), &events.Access{Action: "sign-out", Outcome: events.AccessOK, Actor: who.Actor()}, "")
		}
	}
	http.SetCookie(w, c.opt.Site.Cookie(r, ""))
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
	return nil
}

// local returns a path of this console, or "": never another site's address.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") || strings.ContainsFunc(next, unsent) ||
		strings.HasPrefix(next, "//") || path.Clean(u.Path) != u.Path {
		return ""
	}
	return next
}

// unsent reports whether no browser sends a rune in an address.
func unsent(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }

package auth

import (
	"net/http"
	"slices"
	"strings"
)

// FromRequest returns who sent a request: by its Authorization header, or,
// without one, by its session cookie. It returns ErrNoCredentials where there is
// neither, and ErrBadCredentials where what is there is not good; a bad token is
// never made good by a cookie. Any other error means that the database could not
// be asked.
func (s *Store) FromRequest(r *http.Request) (Identity, error) {
	if headers, ok := r.Header["Authorization"]; ok {
		return s.fromHeader(headers)
	}
	cookies := r.CookiesNamed(s.site.CookieName(r))
	switch len(cookies) {
	case 0:
		return Identity{}, ErrNoCredentials
	case 1:
		return s.fromCookie(r.Context(), cookies[0].Value)
	default: // one of them was planted, and nobody can say which
		return Identity{}, ErrBadCredentials
	}
}

// fromHeader reads Authorization: Bearer TOKEN (RFC 6750, section 2.1).
func (s *Store) fromHeader(headers []string) (Identity, error) {
	if len(headers) != 1 {
		return Identity{}, ErrBadCredentials
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Identity{}, ErrBadCredentials
	}
	c := s.byToken(strings.Trim(token, " "))
	if c == nil {
		return Identity{}, ErrBadCredentials
	}
	i := c.identity()
	i.Method, i.Credential, i.At = MethodToken, c.Name, s.clock()
	return i, nil
}

// identity is what a credential says of its holder.
func (c *credential) identity() Identity {
	return Identity{
		Person: c.person, Name: c.label,
		Roles: slices.Clone(c.Roles), Groups: slices.Clone(c.Groups), Permissions: slices.Clone(c.Permissions),
	}
}

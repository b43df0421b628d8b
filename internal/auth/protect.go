package auth

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Protect refuses requests that a web page of somebody else made, before next
// sees them: with 421 where the Host is not ours, with 403 where the Origin is
// not, or where a browser says that a request which changes something came from
// another site.
//
// The origins (scheme://host[:port], lower case) are front ends elsewhere that
// may call next with a bearer token: they get CORS answers (Fetch, section 3.2),
// and cookies that come with their requests are taken off, because a session is
// for the console's own pages. An origin that cannot be one is an error.
//
// A program that is no browser sends neither Origin nor Sec-Fetch-Site and passes
// here; it still has to authenticate.
func (s Site) Protect(next http.Handler, origins ...string) (http.Handler, error) {
	cross := http.NewCrossOriginProtection()
	trusted := slices.Clone(origins)
	if s.PublicURL != "" {
		trusted = append(trusted, s.PublicURL)
	}
	for _, origin := range trusted {
		if err := cross.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("origin %q: %w", origin, err)
		}
	}
	guarded := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.ours(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "this host name is not served here: use localhost, "+LocalHost+", a loopback address or the public-url of the configuration")
			return
		}
		switch origin, foreign := s.origin(r, origins); {
		case origin == "":
			guarded.ServeHTTP(w, r)
		case !foreign && slices.Contains([]string{s.Origin(r), s.PublicURL}, origin):
			guarded.ServeHTTP(w, r)
		case foreign:
			serveForeign(w, r, origin, guarded)
		default:
			refuse(w, http.StatusForbidden, "this origin may not call: add it to allowed-origins, which opens /chat to it")
		}
	}), nil
}

// origin returns the Origin header and whether it is one of the front ends
// elsewhere. Two headers are as good as a wrong one.
func (s Site) origin(r *http.Request, origins []string) (origin string, foreign bool) {
	headers, ok := r.Header["Origin"]
	switch {
	case !ok:
		return "", false
	case len(headers) != 1 || headers[0] == "":
		return "null", false
	}
	origin = headers[0]
	return origin, slices.Contains(origins, origin) && origin != s.Origin(r) && origin != s.PublicURL
}

// serveForeign answers a front end elsewhere, and its preflight.
func serveForeign(w http.ResponseWriter, r *http.Request, origin string, next http.Handler) {
	r.Header.Del("Cookie")
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Conversation-Id")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		next.ServeHTTP(w, r)
		return
	}
	h.Set("Access-Control-Allow-Methods", strings.Join([]string{http.MethodGet, http.MethodPost, http.MethodDelete}, ", "))
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// refuse answers in plain text, whatever was asked for: nothing of the request is
// repeated.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, why, status)
}

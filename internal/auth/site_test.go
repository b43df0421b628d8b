package auth

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCookies(t *testing.T) {
	for _, c := range []struct {
		public, host string
		tls          bool
		name         string
		secure       bool
	}{
		{"", "countersign.localhost:8080", false, "countersign-8080", false},
		{"", "Countersign.LocalHost:8080", false, "countersign-8080", false},
		{"", "127.0.0.1:8080", false, "countersign-8080", false},
		{"", "[::1]:9090", false, "countersign-9090", false},
		{"", "localhost", false, "countersign-80", false},
		{"", "localhost.:8080", false, "countersign-8080", false},
		{"", "countersign.localhost:8443", true, "__Host-countersign", true},
		{"https://audit.example.org", "audit.example.org", false, "__Host-countersign", true},
		{"https://audit.example.org", "Audit.Example.org:443", false, "__Host-countersign", true},
		{"https://audit.example.org", "127.0.0.1:8080", false, "countersign-8080", false},
		{"http://countersign.localhost:80", "countersign.localhost:80", false, "countersign-80", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = c.host
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		site := Site{PublicURL: c.public}
		require.Equal(t, &http.Cookie{
			Name: c.name, Value: "v", Path: "/", MaxAge: 7 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: c.secure,
		}, site.Cookie(r, "v"), c.host)
		require.Equal(t, c.name, site.CookieName(r))
		gone := site.Cookie(r, "")
		require.Equal(t, c.name, gone.Name)
		require.Negative(t, gone.MaxAge)
	}
}

// What a real client keeps of the cookie is what FromRequest accepts.
func TestCookieRoundTrip(t *testing.T) {
	s := openIn(t, t.TempDir(), nil)
	value := signIn(t, s)
	for _, host := range []string{"countersign.localhost:8080", "127.0.0.1:8080"} {
		r := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
		w := httptest.NewRecorder()
		http.SetCookie(w, s.site.Cookie(r, value))
		for _, cookie := range w.Result().Cookies() {
			r.AddCookie(cookie)
		}
		_, err := s.FromRequest(r)
		require.NoError(t, err, host)
	}
}

package auth

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// LocalHost is the console's own name on this machine. Cookies ignore ports:
// under it they are no other local program's, and those of others are not ours.
const LocalHost = "countersign.localhost"

// Site says where console and API are served: on this machine's loopback
// addresses, and under the public URL where there is one.
type Site struct {
	// PublicURL is "" or scheme://host[:port] in lower case, as browsers see the
	// proxy in front. The proxy must pass the Host header on.
	PublicURL string
}

// Secure reports whether the browser that sent r talks to us over TLS: directly, or
// to the proxy under the public URL.
func (s Site) Secure(r *http.Request) bool {
	host, https := strings.CutPrefix(s.PublicURL, "https://")
	return r.TLS != nil || (https && strings.EqualFold(trimPort(r.Host, "443"), host))
}

// Origin is the origin of r's own pages, as a browser writes it.
func (s Site) Origin(r *http.Request) string {
	if s.Secure(r) {
		return "https://" + trimPort(strings.ToLower(r.Host), "443")
	}
	return "http://" + trimPort(strings.ToLower(r.Host), "80")
}

// CookieName is the name of the session cookie for the host that r was sent to.
func (s Site) CookieName(r *http.Request) string { return s.cookieFor(r).Name }

// Cookie returns the cookie that carries a session to the browser that sent r,
// or, with an empty value, one that removes it.
func (s Site) Cookie(r *http.Request, value string) *http.Cookie {
	c := s.cookieFor(r) //nolint:gosec // cookieFor sets the attributes
	c.Value, c.MaxAge = value, int(SessionLife/time.Second)
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// cookieFor returns an empty session cookie for the host that r was sent to. Over
// TLS its name begins with __Host-, which no other host and no plain page can set
// (RFC 6265bis, section 4.1.3.2). On plain loopback its name has the port: cookies
// ignore ports, and another agentd on this machine has sessions of its own.
func (s Site) cookieFor(r *http.Request) *http.Cookie {
	_, port := splitHost(r.Host)
	c := &http.Cookie{Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.Secure(r)} //nolint:gosec // plain http is for loopback alone
	switch {
	case c.Secure:
		c.Name = "__Host-countersign"
	default:
		number, err := strconv.Atoi(cmp.Or(port, "80"))
		if err != nil {
			number = 0 // no port: Protect lets no such host through
		}
		c.Name = "countersign-" + strconv.Itoa(number)
	}
	return c
}

// ours reports whether a Host header names us. An address cannot be rebound; of
// names only those that never leave this machine, and the public one, are ours.
func (s Site) ours(hostport string) bool {
	host, port := splitHost(hostport)
	if _, err := strconv.ParseUint(cmp.Or(port, "80"), 10, 16); err != nil {
		return false
	}
	if u, err := url.Parse(s.PublicURL); err == nil && u.Host != "" {
		usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
		if strings.EqualFold(trimPort(hostport, usual), u.Host) {
			return true
		}
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback() ||
		strings.EqualFold(host, "localhost") || strings.EqualFold(host, LocalHost)
}

// splitHost splits host[:port]. What is neither has an empty host.
func splitHost(hostport string) (host, port string) {
	if host, port, err := net.SplitHostPort(hostport); err == nil {
		return host, port
	}
	if bare, ok := strings.CutPrefix(hostport, "["); ok && strings.HasSuffix(bare, "]") {
		return strings.TrimSuffix(bare, "]"), ""
	}
	if strings.ContainsAny(hostport, ":[]") {
		return "", ""
	}
	return hostport, ""
}

// trimPort removes a port that browsers do not write.
func trimPort(hostport, port string) string { return strings.TrimSuffix(hostport, ":"+port) }

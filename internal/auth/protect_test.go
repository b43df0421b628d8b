package auth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	publicURL = "https://audit.example.org"
	frontEnd  = "https://chat.example.org"
)

// served is a handler that says which cookies reached it.
func served(t *testing.T) http.Handler {
	t.Helper()
	h, err := Site{PublicURL: publicURL}.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "served "+r.Header.Get("Cookie"))
	}), frontEnd)
	require.NoError(t, err)
	return h
}

// send sends one request with headers as pairs.
func send(h http.Handler, method, host string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/approvals/1", strings.NewReader(""))
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHosts(t *testing.T) {
	h := served(t)
	for _, host := range []string{
		"127.0.0.1", "127.0.0.1:8080", "127.9.9.9:1", "[::1]:8080", "[::1]", "localhost", "LOCALHOST:99", "countersign.localhost:8080",
		"audit.example.org", "audit.example.org:443", "AUDIT.example.org", "[::ffff:127.0.0.1]:80",
	} {
		require.Equal(t, http.StatusOK, send(h, http.MethodGet, host).Code, host)
	}
	for _, host := range []string{
		"", "evil.example:8080", "evil.localhost", "localhost.evil.example", "localhost.", "countersign.localhost.evil.example", "x.countersign.localhost",
		"127.0.0.1.nip.io", "127.0.0.1.evil.example:8080", "192.168.1.1", "0.0.0.0:8080", "[::]:8080", "[::1%25lo]:80", "8.8.8.8",
		"audit.example.org:8080", "audit.example.org.", "xaudit.example.org", "localhost:8080:80", "localhost:http", "user@localhost", "[localhost", "127.1", "0x7f000001",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
			w := send(h, method, host)
			require.Equal(t, http.StatusMisdirectedRequest, w.Code, host)
			require.NotContains(t, w.Body.String(), "evil", "nothing of the request comes back")
		}
	}
}

// A page of evil.example whose name was rebound to 127.0.0.1 is same-origin for
// the browser: Origin and Sec-Fetch-Site look right, only the Host tells.
func TestDNSRebinding(t *testing.T) {
	w := send(served(t), http.MethodPost, "evil.example:8080",
		"Origin", "http://evil.example:8080", "Sec-Fetch-Site", "same-origin", "Cookie", "countersign=x", "Content-Type", "application/json")
	require.Equal(t, http.StatusMisdirectedRequest, w.Code)
}

func TestOriginsAndSites(t *testing.T) {
	h := served(t)
	const host, own = "countersign.localhost:8080", "http://countersign.localhost:8080"
	for _, c := range []struct {
		name, method, host string
		headers            []string
		want               int
	}{
		{"a program", "POST", host, nil, 200},
		{"the console's own form", "POST", host, []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, 200},
		{"an old browser's own form", "POST", host, []string{"Origin", own}, 200},
		{"an address bar", "GET", host, []string{"Sec-Fetch-Site", "none"}, 200},
		{"a link from elsewhere", "GET", host, []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"through the proxy", "POST", "audit.example.org", []string{"Origin", publicURL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"through a proxy that changes Host", "POST", "127.0.0.1:8080", []string{"Origin", publicURL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"another site's form", "POST", host, []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"another site's form, no Origin", "POST", host, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another site's DELETE", "DELETE", host, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"another port of localhost", "POST", host, []string{"Origin", "http://countersign.localhost:3000", "Sec-Fetch-Site", "same-site"}, 403},
		{"another port, no Origin", "POST", host, []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"our name from another name of ours", "POST", host, []string{"Origin", "http://127.0.0.1:8080"}, 403},
		{"a sandboxed frame", "POST", host, []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a sandboxed frame reads", "GET", host, []string{"Origin", "null"}, 403},
		{"another site reads", "GET", host, []string{"Origin", "https://evil.example"}, 403},
		{"our name with another scheme", "POST", host, []string{"Origin", "https://countersign.localhost:8080"}, 403},
		{"an empty Origin", "GET", host, []string{"Origin", ""}, 403},
		{"two Origins", "POST", host, []string{"Origin", own, "Origin", "https://evil.example"}, 403},
		{"two Origins in one", "POST", host, []string{"Origin", own + " https://evil.example"}, 403},
		{"an Origin in another case", "POST", host, []string{"Origin", strings.ToUpper(own)}, 403},
		{"a front end elsewhere", "POST", host, []string{"Origin", frontEnd, "Sec-Fetch-Site", "cross-site"}, 200},
		{"nearly a front end", "POST", host, []string{"Origin", frontEnd + ".evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a front end on another port", "POST", host, []string{"Origin", frontEnd + ":444", "Sec-Fetch-Site", "cross-site"}, 403},
	} {
		w := send(h, c.method, c.host, c.headers...)
		require.Equal(t, c.want, w.Code, c.name)
		require.Equal(t, c.want == 200, strings.HasPrefix(w.Body.String(), "served"), c.name)
	}
}

func TestFrontEndsElsewhere(t *testing.T) {
	h := served(t)
	const host = "127.0.0.1:8080"
	w := send(h, http.MethodPost, host, "Origin", frontEnd, "Cookie", "countersign-8080=secret")
	require.Equal(t, "served ", w.Body.String(), "no session from another site")
	require.Equal(t, frontEnd, w.Header().Get("Access-Control-Allow-Origin"))
	require.Equal(t, "Origin", w.Header().Get("Vary"))
	require.Empty(t, w.Header().Get("Access-Control-Allow-Credentials"))

	w = send(h, http.MethodOptions, host, "Origin", frontEnd, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	require.Equal(t, http.StatusNoContent, w.Code)
	require.Equal(t, "Authorization, Content-Type, Idempotency-Key, Last-Event-ID", w.Header().Get("Access-Control-Allow-Headers"))
	require.Equal(t, "GET, POST, DELETE", w.Header().Get("Access-Control-Allow-Methods"))
	require.Empty(t, w.Body.String())

	w = send(h, http.MethodOptions, host, "Origin", "https://evil.example", "Access-Control-Request-Method", "POST")
	require.Equal(t, http.StatusForbidden, w.Code)
	require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))

	w = send(h, http.MethodPost, host, "Origin", "http://127.0.0.1:8080", "Cookie", "countersign-8080=mine")
	require.Equal(t, "served countersign-8080=mine", w.Body.String())
	require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"), "own pages need no CORS")
}

func TestProtectRefusesOrigins(t *testing.T) {
	for _, origin := range []string{"", "*", "null", "chat.example.org", "https://chat.example.org/path"} {
		_, err := Site{}.Protect(http.NotFoundHandler(), origin)
		require.Error(t, err, origin)
	}
}

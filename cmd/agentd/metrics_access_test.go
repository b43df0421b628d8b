package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/config"
)

// Metrics are open on the machine itself, and nowhere else.
func TestWhoMayReadMetrics(t *testing.T) {
	const host = "agents.example.org"
	hash := func(token string) string { sum := sha256.Sum256([]byte(token)); return hex.EncodeToString(sum[:]) }
	m := newMeasured(t, func(c *config.Config) {
		c.PublicURL = "https://" + host
		c.Auth.Tokens = []config.Token{
			{Name: "otto", SHA256: hash("auditor"), Roles: []string{config.RoleAuditor}},
			{Name: "root", Person: "root", SHA256: hash("admin"), Roles: []string{config.RoleAdmin}},
			{Name: "ben", Person: "ben", SHA256: hash("reviewer"), Roles: []string{config.RoleReviewer}},
			{Name: "ci", SHA256: hash("agent"), Roles: []string{config.RoleAgent}},
		}
	})
	for _, test := range []struct {
		name                string
		local, remote, host string
		header              map[string]string
		token               string
		want                int
	}{
		{name: "on the machine", host: "127.0.0.1:8080", want: 200},
		{name: "by its name", host: "localhost:8080", want: 200},
		{name: "over IPv6", local: "[::1]:8080", remote: "[::1]:5000", host: "[::1]:8080", want: 200},
		{name: "through a proxy", host: host, want: 401},
		{name: "through a proxy that tells for whom", host: "127.0.0.1:8080", header: map[string]string{"X-Forwarded-For": "198.51.100.7"}, want: 401},
		{name: "through one that tells it by the standard", host: "127.0.0.1:8080", header: map[string]string{"Forwarded": "for=198.51.100.7"}, want: 401},
		{name: "on another address of the machine", local: "192.0.2.1:8080", host: host, want: 401},
		{name: "from another machine", local: "192.0.2.1:8080", remote: "192.0.2.9:5000", host: host, want: 401},
		{name: "from another machine that says localhost", local: "192.0.2.1:8080", remote: "192.0.2.9:5000", host: "localhost:8080", want: 401},
		{name: "an auditor from elsewhere", local: "192.0.2.1:8080", remote: "192.0.2.9:5000", host: host, token: "auditor", want: 200},
		{name: "an admin from elsewhere", host: host, token: "admin", want: 200},
		{name: "a reviewer from elsewhere", host: host, token: "reviewer", want: 403},
		{name: "an agent from elsewhere", host: host, token: "agent", want: 403},
		{name: "nobody we know", host: host, token: "guess", want: 401},
		{name: "a name that is not ours", host: "evil.example", want: 421},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.Host, r.RemoteAddr = test.host, "127.0.0.1:5000"
			if test.remote != "" {
				r.RemoteAddr = test.remote
			}
			for name, value := range test.header {
				r.Header.Set(name, value)
			}
			if test.token != "" {
				r.Header.Set("Authorization", "Bearer "+test.token)
			}
			local, err := net.ResolveTCPAddr("tcp", "127.0.0.1:8080")
			if test.local != "" {
				local, err = net.ResolveTCPAddr("tcp", test.local)
			}
			require.NoError(t, err)
			w := httptest.NewRecorder()
			m.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local)))
			require.Equal(t, test.want, w.Code, w.Body.String())
		})
	}
}

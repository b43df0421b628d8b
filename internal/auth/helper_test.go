package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// clock is a wall clock that tests move.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time           { return c.now }
func (c *clock) advance(by time.Duration) { c.now = c.now.Add(by) }

// The tokens of the tests: what their holders send.
const (
	agentToken = "agent-token"
	aliceToken = "alice-token"
	bobToken   = "bob-token"
)

func sum(token string) string {
	h := sha256.Sum256([]byte(token))
	return hex.EncodeToString(h[:])
}

func tokens() []Token {
	return []Token{
		{Name: "ci", SHA256: sum(agentToken), Roles: []string{RoleAgent}},
		{Name: "alice-laptop", Person: "alice", SHA256: sum(aliceToken), Roles: []string{RoleReviewer}, Groups: []string{"sre"}},
		{Name: "bob", Person: "bob", SHA256: sum(bobToken), Roles: []string{RoleAuditor}},
		{Name: "masked", Person: "carol", Roles: []string{RoleAdmin}},
	}
}

// open opens a store in a folder; it is closed at the end of the test.
func openIn(t *testing.T, dir string, change func(*Options)) *Store {
	t.Helper()
	o := Options{Path: filepath.Join(dir, "auth.db"), Tokens: tokens(), LocalAdmin: true, Clock: newClock().Now}
	if change != nil {
		change(&o)
	}
	s, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// request is one to the console's own name, with headers as pairs.
func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://countersign.localhost:8080/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func bearer(token string) *http.Request     { return request("Authorization", "Bearer "+token) }
func withCookie(value string) *http.Request { return request("Cookie", "countersign-8080="+value) }

// signIn makes and redeems a link.
func signIn(t *testing.T, s *Store) string {
	t.Helper()
	secret, _, err := s.NewLink(t.Context())
	require.NoError(t, err)
	cookie, _, err := s.Redeem(t.Context(), secret)
	require.NoError(t, err)
	return cookie
}

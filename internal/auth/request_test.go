package auth

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBearer(t *testing.T) {
	time := newClock()
	s := openIn(t, t.TempDir(), func(o *Options) { o.Clock = time.Now })
	alice, err := s.FromRequest(bearer(aliceToken))
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f-]{36}$`, alice.Person)
	require.Equal(t, Identity{
		Person: alice.Person, Name: "alice", Credential: "alice-laptop", Roles: []string{"reviewer"}, Groups: []string{"sre"},
		Method: "token", At: time.now,
	}, alice)

	ci, err := s.FromRequest(request("Authorization", "bEARER  "+agentToken+" "))
	require.NoError(t, err)
	require.Equal(t, "ci", ci.Name)
	require.NotEqual(t, alice.Person, ci.Person)
	require.False(t, ci.Can(Decide))

	alice.Roles[0] = "admin"
	again, err := s.FromRequest(bearer(aliceToken))
	require.NoError(t, err)
	require.Equal(t, []string{"reviewer"}, again.Roles, "an identity is the caller's to change")
}

func TestHostileCredentials(t *testing.T) {
	s := openIn(t, t.TempDir(), nil)
	good := signIn(t, s)
	none, bad := ErrNoCredentials, ErrBadCredentials
	for name, c := range map[string]struct {
		r    *http.Request
		want error
	}{
		"nothing":                        {request(), none},
		"another cookie":                 {request("Cookie", "session="+good), none},
		"the cookie of another port":     {request("Cookie", "countersign-8081="+good), none},
		"the cookie of TLS":              {request("Cookie", "__Host-countersign="+good), none},
		"an unknown token":               {bearer("guess"), bad},
		"no token":                       {bearer(""), bad},
		"the scheme alone":               {request("Authorization", "Bearer"), bad},
		"an empty header":                {request("Authorization", ""), bad},
		"another scheme":                 {request("Authorization", "Basic "+aliceToken), bad},
		"no scheme":                      {request("Authorization", aliceToken), bad},
		"the hash itself":                {bearer(sum(aliceToken)), bad},
		"the masked token":               {bearer("masked"), bad},
		"zeros":                          {bearer(strings.Repeat("\x00", 32)), bad},
		"a token and more":               {bearer(aliceToken + " x"), bad},
		"a token in another case":        {bearer(strings.ToUpper(aliceToken)), bad},
		"a token too long":               {bearer(strings.Repeat("x", 1<<20)), bad},
		"two headers, one of them good":  {request("Authorization", "Bearer "+aliceToken, "Authorization", "Bearer x"), bad},
		"two headers, both good":         {request("Authorization", "Bearer "+aliceToken, "Authorization", "Bearer "+aliceToken), bad},
		"a bad token with a good cookie": {request("Authorization", "Bearer x", "Cookie", "countersign-8080="+good), bad},
		"a session as a token":           {bearer(good), bad},
		"a token as a session":           {withCookie(aliceToken), bad},
		"an empty cookie":                {withCookie(""), bad},
		"a cookie too long":              {withCookie(strings.Repeat("x", 4000)), bad},
		"SQL":                            {withCookie("' OR 1=1 --"), bad},
		"a planted second cookie":        {request("Cookie", "countersign-8080="+good+"; countersign-8080=x"), bad},
		"a planted first cookie":         {request("Cookie", "countersign-8080=x", "Cookie", "countersign-8080="+good), bad},
	} {
		who, err := s.FromRequest(c.r)
		require.ErrorIs(t, err, c.want, name)
		require.Zero(t, who, name)
	}
	_, err := s.FromRequest(withCookie(good))
	require.NoError(t, err)
}

func TestOpenRefusesTokens(t *testing.T) {
	hash := sum("x")
	for name, c := range map[string]struct {
		tokens []Token
		want   string
	}{
		"reviewer without person": {[]Token{{Name: "a", SHA256: hash, Roles: []string{"reviewer"}}}, `token "a": it can decide and names no person: name who holds it`},
		"admin without person":    {[]Token{{Name: "a", SHA256: hash, Roles: []string{"admin"}}}, `token "a": it can decide and names no person: name who holds it`},
		"bypass without person":   {[]Token{{Name: "a", SHA256: hash, Permissions: []string{"bypass"}}}, `token "a": it can decide and names no person: name who holds it`},
		"short hash":              {[]Token{{Name: "a", SHA256: "abcd"}}, `token "a": expected a hex SHA-256 of 64 digits`},
		"no hex":                  {[]Token{{Name: "a", SHA256: strings.Repeat("z", 64)}}, `token "a": expected a hex SHA-256 of 64 digits`},
		"zeros":                   {[]Token{{Name: "a", SHA256: strings.Repeat("0", 64)}}, `token "a": expected a hex SHA-256 of 64 digits`},
		"the same twice":          {[]Token{{Name: "a", SHA256: hash}, {Name: "b", SHA256: strings.ToUpper(hash)}}, `token "b": it has the hash of token "a": make a new token`},
	} {
		_, err := Open(t.Context(), Options{Tokens: c.tokens})
		require.EqualError(t, err, c.want, name)
	}
}

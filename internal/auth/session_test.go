package auth

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSignInWithToken(t *testing.T) {
	clock := newClock()
	s := openIn(t, t.TempDir(), func(o *Options) { o.Clock = clock.Now })
	cookie, who, err := s.SignInWithToken(t.Context(), aliceToken)
	require.NoError(t, err)
	byToken, err := s.FromRequest(bearer(aliceToken))
	require.NoError(t, err)
	require.Equal(t, byToken.Person, who.Person)
	require.Equal(t, "session", who.Method)
	require.Regexp(t, `^alice-laptop/session-[0-9a-f-]{36}$`, who.Credential)

	clock.advance(time.Hour)
	later, err := s.FromRequest(withCookie(cookie))
	require.NoError(t, err)
	require.Equal(t, who, later, "At is the sign-in, not the request")

	for token, want := range map[string]error{"": ErrBadCredentials, "guess": ErrBadCredentials, "masked": ErrBadCredentials, agentToken: ErrNotAPerson} {
		cookie, _, err := s.SignInWithToken(t.Context(), token)
		require.ErrorIs(t, err, want, token)
		require.Empty(t, cookie)
	}
}

func TestSessionSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	first := openIn(t, dir, nil)
	local := signIn(t, first)
	alice, before, err := first.SignInWithToken(t.Context(), aliceToken)
	require.NoError(t, err)

	second := openIn(t, dir, func(o *Options) { o.Tokens[1].Roles = []string{RoleAuditor} })
	_, err = second.FromRequest(withCookie(local))
	require.NoError(t, err)
	after, err := second.FromRequest(withCookie(alice))
	require.NoError(t, err)
	require.Equal(t, before.Person, after.Person)
	require.Equal(t, []string{"auditor"}, after.Roles, "roles are those of now")

	third := openIn(t, dir, func(o *Options) { o.Tokens[1].SHA256 = sum("alice's next token") })
	_, err = third.FromRequest(withCookie(alice))
	require.ErrorIs(t, err, ErrBadCredentials, "a token that was taken away takes its sessions along")

	fourth := openIn(t, dir, func(o *Options) { o.Tokens[1].Person, o.Tokens[1].Roles = "", []string{RoleAgent} })
	_, err = fourth.FromRequest(withCookie(alice))
	require.ErrorIs(t, err, ErrBadCredentials, "a token that is a program's now is no sign-in")
}

func TestSignOut(t *testing.T) {
	s := openIn(t, t.TempDir(), nil)
	mine, other := signIn(t, s), signIn(t, s)
	for range 2 {
		require.NoError(t, s.SignOut(t.Context(), mine))
		_, err := s.FromRequest(withCookie(mine))
		require.ErrorIs(t, err, ErrBadCredentials)
	}
	_, err := s.FromRequest(withCookie(other))
	require.NoError(t, err)
}

func TestSessionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		steps []time.Duration // between one request and the next; the last one is judged
		want  error
	}{
		"in use":                     {[]time.Duration{time.Second, 11 * time.Hour, 11 * time.Hour, 11 * time.Hour}, nil},
		"idle":                       {[]time.Duration{SessionIdle}, ErrBadCredentials},
		"a moment before":            {[]time.Duration{SessionIdle - time.Microsecond}, nil},
		"idle after use":             {[]time.Duration{time.Hour, SessionIdle}, ErrBadCredentials},
		"used until its last moment": {everyHour(7*24 - 1), nil},
		"used beyond its life":       {everyHour(7 * 24), ErrBadCredentials},
		"a clock that goes back":     {[]time.Duration{-time.Hour, SessionIdle + 30*time.Minute}, nil},
	} {
		clock := newClock()
		s := openIn(t, t.TempDir(), func(o *Options) { o.Clock = clock.Now })
		cookie := signIn(t, s)
		var err error
		for _, step := range c.steps {
			clock.advance(step)
			_, err = s.FromRequest(withCookie(cookie))
		}
		require.ErrorIs(t, err, c.want, name)
	}
}

func everyHour(n int) []time.Duration {
	steps := make([]time.Duration, n)
	for i := range steps {
		steps[i] = time.Hour
	}
	return steps
}

// Sessions that ended do not pile up, and a page is not a write.
func TestSessionRows(t *testing.T) {
	clock := newClock()
	s := openIn(t, t.TempDir(), func(o *Options) { o.Clock = clock.Now })
	cookie := signIn(t, s)
	used := func() (used int64) {
		require.NoError(t, s.db.Read.QueryRowContext(t.Context(), "SELECT max(used) FROM sessions").Scan(&used))
		return used
	}
	begun := used()
	for _, c := range []struct {
		advance time.Duration
		noted   bool
	}{{59 * time.Second, false}, {time.Second, true}, {59 * time.Second, false}, {time.Second, true}} {
		before := used()
		clock.advance(c.advance)
		_, err := s.FromRequest(withCookie(cookie))
		require.NoError(t, err)
		require.Equal(t, c.noted, used() > before)
	}
	require.Greater(t, used(), begun)

	clock.advance(SessionLife)
	signIn(t, s)
	var rows int
	require.NoError(t, s.db.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM sessions").Scan(&rows))
	require.Equal(t, 1, rows)
}

// A database that takes no writes (a full disk) does not lock a reviewer out.
func TestSessionWithoutWrites(t *testing.T) {
	clock := newClock()
	s := openIn(t, t.TempDir(), func(o *Options) { o.Clock = clock.Now })
	cookie := signIn(t, s)
	_, err := s.db.Write.ExecContext(t.Context(), "CREATE TRIGGER full BEFORE UPDATE ON sessions BEGIN SELECT raise(ABORT, 'disk full'); END")
	require.NoError(t, err)
	clock.advance(time.Hour)
	_, err = s.FromRequest(withCookie(cookie))
	require.NoError(t, err)
}

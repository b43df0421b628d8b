package auth

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLinkSignsInTheLocalAdmin(t *testing.T) {
	time := newClock()
	s := openIn(t, t.TempDir(), func(o *Options) { o.Clock = time.Now })
	secret, expires, err := s.NewLink(t.Context())
	require.NoError(t, err)
	require.Len(t, secret, 43)
	require.Equal(t, time.now.Add(LinkLife), expires)

	cookie, who, err := s.Redeem(t.Context(), secret)
	require.NoError(t, err)
	require.Regexp(t, `^session-[0-9a-f-]{36}$`, who.Credential)
	require.Equal(t, Identity{
		Person: who.Person, Name: "local admin", Credential: who.Credential, Roles: []string{"admin"}, Method: "local-link", At: time.now,
	}, who)
	require.NotContains(t, who.Credential, cookie)

	again, err := s.FromRequest(withCookie(cookie))
	require.NoError(t, err)
	require.Equal(t, who, again)
}

func TestLinkWorksOnce(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir, nil)
	secret, _, err := s.NewLink(t.Context())
	require.NoError(t, err)
	_, _, err = s.Redeem(t.Context(), secret)
	require.NoError(t, err)
	for _, replay := range []string{secret, "", "x", strings.Repeat("x", 1<<16), secret + "=", strings.ToUpper(secret)} {
		cookie, who, err := s.Redeem(t.Context(), replay)
		require.ErrorIs(t, err, ErrBadLink)
		require.Empty(t, cookie)
		require.Zero(t, who)
	}
	_, _, err = openIn(t, dir, nil).Redeem(t.Context(), secret)
	require.ErrorIs(t, err, ErrBadLink, "nor after a restart")
}

func TestUnusedLinkSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	secret, _, err := openIn(t, dir, nil).NewLink(t.Context())
	require.NoError(t, err)
	_, _, err = openIn(t, dir, nil).Redeem(t.Context(), secret)
	require.NoError(t, err)
}

func TestLinkExpires(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  error
	}{{0, nil}, {LinkLife - time.Microsecond, nil}, {LinkLife, ErrBadLink}, {48 * time.Hour, ErrBadLink}} {
		clock := newClock()
		s := openIn(t, t.TempDir(), func(o *Options) { o.Clock = clock.Now })
		secret, _, err := s.NewLink(t.Context())
		require.NoError(t, err)
		clock.advance(c.after)
		_, _, err = s.Redeem(t.Context(), secret)
		require.ErrorIs(t, err, c.want, c.after)
		clock.advance(-c.after)
		_, _, err = s.Redeem(t.Context(), secret)
		require.ErrorIs(t, err, ErrBadLink, "a clock that goes back brings no link back")
	}
}

func TestRedeemRace(t *testing.T) {
	s := openIn(t, t.TempDir(), nil)
	secret, _, err := s.NewLink(t.Context())
	require.NoError(t, err)
	var in, out atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			_, _, err := s.Redeem(t.Context(), secret)
			switch {
			case err == nil:
				in.Add(1)
			case errors.Is(err, ErrBadLink):
				out.Add(1)
			}
		})
	}
	all.Wait()
	require.Equal(t, [2]int32{1, 99}, [2]int32{in.Load(), out.Load()})
}

func TestNoLocalAdmin(t *testing.T) {
	dir := t.TempDir()
	with := openIn(t, dir, nil)
	cookie := signIn(t, with)
	secret, _, err := with.NewLink(t.Context())
	require.NoError(t, err)

	without := openIn(t, dir, func(o *Options) { o.LocalAdmin = false })
	_, _, err = without.NewLink(t.Context())
	require.ErrorIs(t, err, ErrNoLocalAdmin)
	_, _, err = without.Redeem(t.Context(), secret)
	require.ErrorIs(t, err, ErrNoLocalAdmin)
	_, err = without.FromRequest(withCookie(cookie))
	require.ErrorIs(t, err, ErrBadCredentials, "a session ends with what it stands on")
}

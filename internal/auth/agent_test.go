package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func tokenless(o *Options) { o.Tokens = nil }

func TestAgentToken(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir, tokenless)
	path, created, err := s.EnsureAgentToken(t.Context(), dir)
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, filepath.Join(dir, "token"), path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	plain := readToken(path)
	who, err := s.FromRequest(bearer(plain))
	require.NoError(t, err)
	require.Equal(t, []string{"agent"}, who.Roles)
	for _, p := range []Permission{Review, Decide, Audit, Administer, Bypass} {
		require.False(t, who.Can(p), p)
	}
	_, _, err = s.SignInWithToken(t.Context(), plain)
	require.ErrorIs(t, err, ErrNotAPerson, "it opens no console")

	again := openIn(t, dir, tokenless)
	_, err = again.FromRequest(bearer(plain))
	require.ErrorIs(t, err, ErrBadCredentials, "it is nothing unless asked for: with auth.tokens it admits nobody")
	_, created, err = again.EnsureAgentToken(t.Context(), dir)
	require.NoError(t, err)
	require.False(t, created)
	same, err := again.FromRequest(bearer(plain))
	require.NoError(t, err)
	require.Equal(t, who.Person, same.Person)
}

func TestAgentTokenIsReplaced(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"missing":             func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"readable by others":  func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o644)) },
		"planted by somebody": func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("weak\n"), 0o600)) },
		"empty":               func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) },
		"with more at its end": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 9999)), 0o600))
		},
		"a link to the token": func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+"-moved"))
			require.NoError(t, os.Symlink(path+"-moved", path))
		},
	} {
		dir := t.TempDir()
		path, _, err := openIn(t, dir, tokenless).EnsureAgentToken(t.Context(), dir)
		require.NoError(t, err)
		old := readToken(path)
		spoil(t, path)

		s := openIn(t, dir, tokenless)
		_, created, err := s.EnsureAgentToken(t.Context(), dir)
		require.NoError(t, err, name)
		require.True(t, created, name)
		for _, token := range []string{old, "weak", ""} {
			_, err = s.FromRequest(bearer(token))
			require.ErrorIs(t, err, ErrBadCredentials, name)
		}
		_, err = s.FromRequest(bearer(readToken(path)))
		require.NoError(t, err, name)
	}
}

func TestAgentTokenThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir, tokenless)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "token", "in the way"), 0o700))
	_, _, err := s.EnsureAgentToken(t.Context(), dir)
	require.ErrorContains(t, err, "agent token: ")
	left, err := filepath.Glob(filepath.Join(dir, ".token-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

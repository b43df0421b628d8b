package auth

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

func TestPeopleKeepTheirIDs(t *testing.T) {
	dir := t.TempDir()
	first := openIn(t, dir, nil)
	before, err := first.People(t.Context())
	require.NoError(t, err)
	require.Len(t, before, 5) // ci, alice, bob, carol, the local admin

	second := openIn(t, dir, func(o *Options) {
		o.Tokens = append(o.Tokens, Token{Name: "alice-phone", Person: "alice", SHA256: sum("phone"), Roles: []string{RoleAgent}},
			Token{Name: "local admin", Person: "local admin", SHA256: sum("impostor"), Roles: []string{RoleAuditor}})
	})
	laptop, err := second.FromRequest(bearer(aliceToken))
	require.NoError(t, err)
	phone, err := second.FromRequest(bearer("phone"))
	require.NoError(t, err)
	require.Equal(t, laptop.Person, phone.Person, "one person, two tokens")
	require.Contains(t, before, Person{laptop.Person, "alice"}, "the id survives a restart")

	impostor, err := second.FromRequest(bearer("impostor"))
	require.NoError(t, err)
	admin, err := second.FromRequest(withCookie(signIn(t, second)))
	require.NoError(t, err)
	require.NotEqual(t, admin.Person, impostor.Person, "a name does not make the local admin")
}

// Nothing that signs somebody in is readable in the folder, however it was made.
func TestNoSecretOnDisk(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir, nil)
	unused, _, err := s.NewLink(t.Context())
	require.NoError(t, err)
	used, _, err := s.NewLink(t.Context())
	require.NoError(t, err)
	local, _, err := s.Redeem(t.Context(), used)
	require.NoError(t, err)
	alice, _, err := s.SignInWithToken(t.Context(), aliceToken)
	require.NoError(t, err)

	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s is readable by others", file)
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, secret := range []string{unused, used, local, alice, aliceToken, agentToken} {
			require.False(t, bytes.Contains(content, []byte(secret)), file)
		}
	}
}

func TestRefusesOtherDatabases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Synchronous: sqlite.Full})
	require.NoError(t, err)
	_, err = db.Write.ExecContext(t.Context(), "PRAGMA application_id = 1129537909; PRAGMA user_version = 99; CREATE TABLE future (x)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = Open(t.Context(), Options{Path: path})
	require.ErrorIs(t, err, sqlite.ErrNewer)
}

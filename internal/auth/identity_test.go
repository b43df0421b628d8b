package auth

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func TestWhatRolesMayDo(t *testing.T) {
	all := []Permission{Chat, Review, Decide, Audit, Administer, Bypass}
	for _, c := range []struct {
		identity Identity
		may      []Permission
	}{
		{Identity{}, nil},
		{Identity{Roles: []string{"root", ""}}, nil},
		{Identity{Roles: []string{"agent"}}, []Permission{Chat}},
		{Identity{Roles: []string{"reviewer"}}, []Permission{Review, Decide}},
		{Identity{Roles: []string{"auditor"}}, []Permission{Audit}},
		{Identity{Roles: []string{"admin"}}, []Permission{Review, Decide, Audit, Administer}},
		{Identity{Roles: []string{"agent", "auditor"}}, []Permission{Chat, Audit}},
		{Identity{Roles: []string{"agent"}, Permissions: []string{"bypass"}}, []Permission{Chat, Bypass}},
		{Identity{Groups: []string{"decide", "admin"}}, nil},
	} {
		var may []Permission
		for _, p := range all {
			if c.identity.Can(p) {
				may = append(may, p)
			}
		}
		require.Equal(t, c.may, may, "%+v", c.identity)
	}
}

func TestActorIsAllButTheName(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	who := Identity{Person: "p-1", Name: "Ada", Credential: "ada/session-1", Roles: []string{"reviewer"}, Method: MethodSession, At: at}
	actor := who.Actor()
	require.Equal(t, &events.Actor{
		Person: "p-1", Credential: "ada/session-1", Roles: []string{"reviewer"}, Groups: []string{}, Method: "session", At: events.At(at),
	}, actor)
	actor.Roles[0] = "admin"
	require.Equal(t, []string{"reviewer"}, who.Roles)
}

func TestNewToken(t *testing.T) {
	plain, hash := NewToken()
	require.Regexp(t, `^countersign_[A-Za-z0-9_-]{43}$`, plain)
	require.Equal(t, sum(plain), hash)
	other, _ := NewToken()
	require.NotEqual(t, plain, other)
}

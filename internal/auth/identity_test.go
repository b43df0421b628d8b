package auth

import (
	"testing"

	"github.com/stretchr/testify/require"
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

func TestNewToken(t *testing.T) {
	plain, hash := NewToken()
	require.Regexp(t, `^countersign_[A-Za-z0-9_-]{43}$`, plain)
	require.Equal(t, sum(plain), hash)
	other, _ := NewToken()
	require.NotEqual(t, plain, other)
}

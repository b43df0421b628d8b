package auth

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Permission is one thing that an identity may do.
type Permission string

// The permissions. A role has some of them; Bypass is in none.
const (
	Chat       Permission = "chat"       // start and cancel own runs, propose calls, post results
	Review     Permission = "review"     // see requests, with turn and session
	Decide     Permission = "decide"     // approve, modify and decline them
	Audit      Permission = "audit"      // see all, export, verify
	Administer Permission = "administer" // policy and people
	Bypass     Permission = "bypass"     // start a run whose calls do not ask
)

// The roles of the configuration.
const (
	RoleAgent    = "agent"
	RoleReviewer = "reviewer"
	RoleAuditor  = "auditor"
	RoleAdmin    = "admin"
)

// grants are the permissions of a role; nil for one that does not exist.
func grants(role string) []Permission {
	switch role {
	case RoleAgent:
		return []Permission{Chat}
	case RoleReviewer:
		return []Permission{Review, Decide}
	case RoleAuditor:
		return []Permission{Audit}
	case RoleAdmin:
		return []Permission{Review, Decide, Audit, Administer}
	default:
		return nil
	}
}

// The methods by which an identity was authenticated, as events record them.
const (
	MethodToken     = "token"      // a bearer token
	MethodSession   = "session"    // a session that began with a token
	MethodLocalLink = "local-link" // a session that began with a one-time link
)

// Identity is who an authenticated request comes from. It is taken from
// credentials, never from a body.
type Identity struct {
	Person      string   // opaque and stable; of a token without person: the token's own
	Name        string   // for people to read; not for events
	Credential  string   // the name of token or session, never a secret
	Roles       []string // of the configuration as it is now
	Groups      []string
	Permissions []string
	Method      string    // MethodToken, MethodSession or MethodLocalLink
	At          time.Time // when the credential was authenticated: the request, or the sign-in
}

// Can reports whether the identity has a permission, by a role or by itself.
func (i Identity) Can(p Permission) bool {
	return slices.Contains(i.Permissions, string(p)) ||
		slices.ContainsFunc(i.Roles, func(role string) bool { return slices.Contains(grants(role), p) })
}

// Actor is the identity as events record it: the name stays out.
func (i Identity) Actor() *events.Actor {
	return &events.Actor{
		Person: i.Person, Credential: i.Credential, Roles: present(i.Roles), Groups: present(i.Groups), Method: i.Method, At: events.At(i.At),
	}
}

// present copies a list; none is an empty list, because events leave nothing out.
func present(list []string) []string { return append([]string{}, list...) }

// Token is a bearer token of the configuration.
type Token struct {
	Name   string
	Person string // the name of who holds it; never empty where a role can decide
	// SHA256 is the hex SHA-256 of the token's text; nobody holds a token
	// where it is "".
	SHA256      string
	Roles       []string
	Groups      []string
	Permissions []string
}

// decides reports whether somebody who holds t can take part in a decision.
func (t Token) decides() bool {
	i := Identity{Roles: t.Roles, Permissions: t.Permissions}
	return i.Can(Decide) || i.Can(Administer) || i.Can(Bypass)
}

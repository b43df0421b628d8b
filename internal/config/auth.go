package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (d decoder) auth(v value) error {
	return v.read(fields{"tokens": d.tokens, "users": refuse})
}

func (d decoder) tokens(v value) error {
	elements, err := v.list()
	if err != nil {
		return err
	}
	for _, element := range elements {
		t, err := d.token(element)
		if err != nil {
			return err
		}
		for _, o := range d.c.Auth.Tokens {
			if o.Name == t.Name || (o.SHA256 == t.SHA256 && t.SHA256 != "") {
				return element.errorf("expected each name and each sha256 once, %s has it too; make a new token", clip(o.Name))
			}
		}
		d.c.Auth.Tokens = append(d.c.Auth.Tokens, t)
	}
	return nil
}

func (d decoder) token(v value) (Token, error) {
	var t Token
	err := v.read(fields{
		"name":   into(&t.Name, parseLabel),
		"person": into(&t.Person, parseLabel),
		"sha256": func(v value) error { return readHash(v, &t.SHA256) },
		"roles": intoList(&t.Roles, func(s string) (string, error) {
			return parseOneOf(s, RoleAgent, RoleReviewer, RoleAuditor, RoleAdmin)
		}),
		"groups": intoList(&t.Groups, parseLabel),
		"permissions": intoList(&t.Permissions, func(s string) (string, error) {
			if s == "bypass" {
				return "", fmt.Errorf("%w: %s", ErrNotInVersion, s)
			}
			return "", fmt.Errorf("expected an empty list, found %s; this version has no permissions", clip(s))
		}),
	})
	if err != nil {
		return Token{}, err
	}
	if err := v.need("name", "sha256", "roles"); err != nil {
		return Token{}, err
	}
	switch {
	case len(t.Roles) == 0:
		return Token{}, v.errorf("expected at least one role in roles")
	case t.Person == "" && (slices.Contains(t.Roles, RoleReviewer) || slices.Contains(t.Roles, RoleAdmin)):
		return Token{}, v.errorf("expected the key person: who decides with this token is recorded under that name")
	}
	return t, nil
}

// masked stands for a token's hash in printed configurations. It loads as a
// token that nobody holds.
const masked = "masked"

// readHash reads a hex SHA-256. Digits alone are text here, whatever YAML makes
// of them, and what was found is never repeated: it may be the token itself.
func readHash(v value, target *string) error {
	wrong := v.errorf("expected the hex SHA-256 of a token, 64 digits; `agentd token create` makes both")
	if v.node.Kind != yaml.ScalarNode {
		return wrong
	}
	if v.node.Value == masked {
		*target = ""
		return nil
	}
	hash, err := hex.DecodeString(v.node.Value)
	if err != nil || len(hash) != sha256.Size {
		return wrong
	}
	if sha256.Sum256(nil) == [sha256.Size]byte(hash) {
		return v.errorf("expected the hash of a token, found that of the empty text; hash the token without a line end")
	}
	*target = strings.ToLower(v.node.Value)
	return nil
}

package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/auth"
)

// token prints a new token once, with the lines that configure its hash.
func (c command) token() error {
	if len(c.args) == 0 || c.args[0] != "create" {
		return fmt.Errorf("%w: agentd token create --name N --roles R[,R] [--person P]", errUsage)
	}
	fs := flag.NewFlagSet("agentd token create", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	name := fs.String("name", "", "the token's `name`")
	roles := fs.String("roles", "", "its roles, comma-separated: agent, reviewer, auditor, admin")
	person := fs.String("person", "", "who holds it; needed where a role can decide")
	if err := fs.Parse(c.args[1:]); err != nil {
		return c.notParsed(fs, err)
	}
	if *name == "" || fs.NArg() > 0 {
		return fmt.Errorf("%w: agentd token create needs --name and --roles, and takes no other arguments", errUsage)
	}
	list, err := splitRoles(*roles)
	if err != nil {
		return err
	}
	decides := slices.Contains(list, auth.RoleReviewer) || slices.Contains(list, auth.RoleAdmin)
	if decides && *person == "" {
		return fmt.Errorf("%w: who decides with this token is recorded by name: say with --person who holds it", errUsage)
	}
	plain, hash := auth.NewToken()
	owner := ""
	if *person != "" {
		owner = fmt.Sprintf(" person: %q,", *person)
	}
	_, err = fmt.Fprintf(c.stdout, `%s

This is shown once. Configure its hash, and keep the token itself out of files:

auth:
  tokens:
    - {name: %q,%s sha256: %s, roles: [%s]}
`, plain, *name, owner, hash, strings.Join(list, ", "))
	return err
}

func splitRoles(s string) ([]string, error) {
	known := []string{auth.RoleAgent, auth.RoleReviewer, auth.RoleAuditor, auth.RoleAdmin}
	var roles []string
	for r := range strings.SplitSeq(s, ",") {
		r = strings.TrimSpace(r)
		if !slices.Contains(known, r) {
			return nil, fmt.Errorf("%w: --roles takes some of %s, not %q", errUsage, strings.Join(known, ", "), r)
		}
		roles = append(roles, r)
	}
	return roles, nil
}

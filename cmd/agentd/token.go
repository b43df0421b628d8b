package main

import (
	"flag"
	"fmt"
	"io"
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
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	list, err := splitRoles(*roles)
	if err != nil || *name == "" {
		return fmt.Errorf("%w: --name and --roles are needed, of agent, reviewer, auditor, admin (%w)", errUsage, err)
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
	var roles []string
	for r := range strings.SplitSeq(s, ",") {
		r = strings.TrimSpace(r)
		switch r {
		case "agent", "reviewer", "auditor", "admin":
			roles = append(roles, r)
		default:
			return nil, fmt.Errorf("there is no role %q", r)
		}
	}
	return roles, nil
}

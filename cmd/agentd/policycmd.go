package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/api"
)

// policy asks the running agentd about its policy: to read the file again, or how
// things stand. There is no command that confirms a policy that loosens: a person
// does, in the console.
func (c command) policy() error {
	what := ""
	if len(c.args) > 0 {
		what, c.args = c.args[0], c.args[1:]
	}
	if what != "reload" && what != "status" {
		return fmt.Errorf("%w: agentd policy reload, or agentd policy status", errUsage)
	}
	cfg, done, err := c.load("policy "+what, nil)
	if err != nil || done {
		return err
	}
	socket := filepath.Join(cfg.DataDir, socketName)
	if what == "status" {
		return c.policyStatus(socket)
	}
	var r api.PolicyReload
	if err := askPolicy(c.ctx, socket, http.MethodPost, "/policy/reload", &r); err != nil {
		return err
	}
	return c.tellReload(r)
}

func (c command) tellReload(r api.PolicyReload) error {
	if r.Outcome == outcomeFailed {
		return errors.New("the policy was not reloaded; the old one holds: " + oneLine(r.Error))
	}
	fmt.Fprintln(c.stdout, map[string]string{
		"unchanged": "The policy is the same.", "applied": "The policy only tightens, and holds now.",
		"held": "The policy loosens something, so the whole old one holds, also where the new one tightens. An administrator confirms the change at " + r.Console,
	}[r.Outcome])
	c.tellChanges(r.Changes)
	if len(r.Restart) > 0 {
		fmt.Fprintln(c.stdout, "Other keys of the file changed as well; they need a restart:", oneLine(strings.Join(r.Restart, ", ")))
	}
	return nil
}

func (c command) tellChanges(changes []api.PolicyChange) {
	for _, change := range changes {
		word := "tightens"
		if change.Loosens {
			word = "loosens "
		}
		fmt.Fprintf(c.stdout, "  %s  %s\n", word, oneLine(change.Words))
	}
}

func (c command) policyStatus(socket string) error {
	var s api.PolicyStanding
	if err := askPolicy(c.ctx, socket, http.MethodGet, "/policy", &s); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout, "holds now:", oneLine(s.Digest))
	if s.Held == "" {
		_, err := fmt.Fprintln(c.stdout, "nothing waits")
		return err
	}
	fmt.Fprintln(c.stdout, "waits for an administrator:", oneLine(s.Held))
	c.tellChanges(s.Waits)
	return nil
}

// askPolicy asks the running agentd over its control socket.
func askPolicy(ctx context.Context, socket, method, path string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, reloadWithin+10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://agentd"+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := overSocket(socket).Do(req)
	if nobodyListens(err) {
		return fmt.Errorf("no agentd runs on %s; start it, or name its folder with --data-dir", filepath.Dir(socket))
	}
	if err != nil {
		return fmt.Errorf("ask the running agentd: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, answer)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the running agentd answered %s: %s", resp.Status, oneLine(string(body)))
	}
	return nil
}

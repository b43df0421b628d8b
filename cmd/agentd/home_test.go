package main_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// home is a folder with a configuration, a workspace, tools, and the data of
// the agentds that run in it one after another.
type home struct {
	t     *testing.T
	dir   string
	model *provider
}

// Whom the configuration knows, by token. What it has of them is a hash.
const (
	agentToken    = "agent-token-of-the-tests"
	aliceToken    = "reviewer-token-of-alice"
	auditorToken  = "auditor-token-of-otto"
	strangerToken = "nobody-has-this-token"
)

// newHome makes a home. Of its tools, Count and Slow ask, and Tally is free;
// each notes its arguments in the workspace before it does anything.
func newHome(t *testing.T) *home {
	t.Helper()
	return newHomeIn(t, t.TempDir())
}

func newHomeIn(t *testing.T, dir string) *home {
	t.Helper()
	h := &home{t: t, dir: dir, model: newProvider(t)}
	require.NoError(t, os.MkdirAll(h.path("workspace"), 0o700))
	h.write("note.sh", fmt.Sprintf("#!/bin/sh\nargs=$(cat)\nprintf '%%s\\n' \"$args\" >> '%s'\nsleep \"$1\"\necho counted\n", h.path("workspace", "executions")), 0o700)
	h.configure("")
	return h
}

func (h *home) path(elements ...string) string {
	return filepath.Join(append([]string{h.dir}, elements...)...)
}

func (h *home) write(name, text string, mode os.FileMode) {
	h.t.Helper()
	require.NoError(h.t, os.WriteFile(h.path(name), []byte(text), mode))
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// configure writes the configuration, with more top-level keys at its end.
func (h *home) configure(more string) {
	h.t.Helper()
	tool := func(name, held string) string {
		return fmt.Sprintf(`    - name: %s
      description: counts
      schema: {type: object, properties: {key: {type: string}, changed: {type: boolean}}, required: [key], additionalProperties: false}
      command: [./note.sh, "%s"]
`, name, held)
	}
	h.write("agentd.yaml", `addr: 127.0.0.1:0
models: [{name: stub, provider: openai, base-url: `+h.model.url()+`, model: stub}]
auth:
  tokens:
    - {name: agent, sha256: `+hashOf(agentToken)+`, roles: [agent]}
    - {name: alice, person: alice, sha256: `+hashOf(aliceToken)+`, roles: [reviewer], groups: [sre]}
    - {name: otto, person: otto, sha256: `+hashOf(auditorToken)+`, roles: [auditor]}
chat:
  hitl: {required-tools: [Count, Slow, Write, Bash], timeout: 1h, heartbeat-interval: 200ms}
tools:
  isolation: `+h.isolation()+`
  custom:
`+tool("Count", "0.03")+tool("Tally", "0.02")+tool("Slow", "30")+more, 0o600)
}

// isolation is what the machine can do: most tests are not about it.
func (h *home) isolation() string {
	if h.isolates() {
		return "auto"
	}
	return "none"
}

// isolates reports whether the machine can shut tools off.
func (h *home) isolates() bool {
	h.t.Helper()
	return agentd(h.t, h.dir, nil, "doctor").code == 0
}

// start starts an agentd on this home.
func (h *home) start() *process {
	h.t.Helper()
	return launch(h.t, h.dir, "serve", "--config", "agentd.yaml")
}

// executions are the arguments that tools were run with, as the tools noted
// them.
func (h *home) executions() []string {
	h.t.Helper()
	f, err := os.Open(h.path("workspace", "executions"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(h.t, err)
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// executed reports whether a tool was run with these arguments.
func (h *home) executed(arguments string) bool {
	return strings.Contains(strings.Join(h.executions(), "\n")+"\n", arguments+"\n")
}

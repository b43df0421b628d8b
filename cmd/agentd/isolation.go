package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/internal/isolate"
)

// unavailable is how tools are shut off that need it and cannot be: they do not
// run.
const unavailable = "unavailable"

// openSandbox prepares how the processes of tools are shut off from this one.
// Where the machine cannot do that, they do not run, and everything else works.
func (s *server) openSandbox(ctx context.Context, hidden []string) error {
	if err := isolate.Harden(); err != nil {
		s.logger.WarnContext(ctx, "other processes of this user could look into this one", "error", err)
	}
	if s.cfg.Tools.Isolation == config.IsolationNone {
		s.isolation = isolate.None
		return nil
	}
	workspace := s.cfg.Tools.Workspace
	if err := os.MkdirAll(workspace, 0o750); err != nil {
		return s.cfg.Blame("tools", fmt.Errorf("workspace: %w", err))
	}
	var err error
	s.sandbox, err = isolate.New(isolate.Probe(ctx), isolate.Config{
		Hidden: hidden, Writable: []string{workspace}, Readable: s.programs(),
		Network: isolate.Network(s.cfg.Tools.Network), Ports: s.cfg.Tools.NetworkPorts, OwnPorts: s.ownPorts(),
	})
	switch {
	case errors.Is(err, isolate.ErrCannot):
		s.isolation, s.hindrance = unavailable, err.Error()
	case err != nil:
		return s.cfg.Blame("tools", err)
	default:
		s.isolation = s.sandbox.Mode()
	}
	return nil
}

// ownPorts is the port that tools must not reach; the configuration has made sure
// that it is known where they have a network.
func (s *server) ownPorts() []uint16 {
	_, text, _ := net.SplitHostPort(s.cfg.Addr) // parsed before
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return nil
	}
	return []uint16{uint16(port)}
}

// programs are the programs of custom tools that are named by a path: they are
// shown to the sandbox wherever they lie. One that is not there is told of when
// the tools are made.
func (s *server) programs() (paths []string) {
	for _, t := range s.cfg.Tools.Custom {
		if _, err := os.Stat(t.Command[0]); err == nil && filepath.IsAbs(t.Command[0]) {
			paths = append(paths, t.Command[0])
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// sayIsolation says how tools are shut off, where that is not as it should be.
func (s *server) sayIsolation() {
	switch s.isolation {
	case isolate.None:
		fmt.Fprintln(s.stdout, "Tools run unisolated (tools.isolation: none): what runs as a tool can reach this process and its files.")
	case unavailable:
		fmt.Fprintf(s.stdout, "Tools that start a process do not run here: %s.\nSee agentd doctor. With tools.isolation: none they run, unisolated.\n", s.hindrance)
	}
}

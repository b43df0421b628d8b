//go:build !linux || !(amd64 || arm64)

package isolate

import (
	"context"
	"fmt"
	"runtime"
)

// Stage does nothing: there are no sandboxes here.
func Stage() {}

// Harden does nothing here.
func Harden() error { return nil }

// Probe says that this system cannot isolate.
func Probe(context.Context) Machine {
	return Machine{Parts: []Part{{
		Name: "Linux", Needed: true, Detail: runtime.GOOS + " on " + runtime.GOARCH,
		Remedy: "run agentd on Linux on amd64 or arm64, or set tools.isolation: none where what runs as a tool may do all that agentd may",
	}}}
}

// coming does not come here.
type coming struct{}

// Child is a started command; there is none here.
type Child struct{}

// Start starts nothing: New makes no sandbox here.
func (s *Sandbox) Start(Spec) (*Child, error) {
	return nil, fmt.Errorf("%w: %w", ErrNotStarted, ErrCannot)
}

// Close does nothing.
func (s *Sandbox) Close() {}

// Ended is never closed.
func (c *Child) Ended() <-chan struct{} { return nil }

// Stop does nothing.
func (c *Child) Stop() {}

// Kill does nothing.
func (c *Child) Kill() {}

// Wait says that nothing ran.
func (c *Child) Wait() (End, error) { return End{}, ErrNotStarted }

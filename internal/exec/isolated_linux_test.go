package exec_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/isolate"
)

// Invariant 11.
func TestHostileProgramsAreShutOff(t *testing.T) {
	w := newWorld(t)
	all := attacks()
	names := slices.Sorted(maps.Keys(all))
	harmless := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !all[name].alone })
	alone := w.attack(t, nil, harmless)
	isolated := w.attack(t, w.sandbox(t), names)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			switch {
			case !all[name].alone: // it was not tried
			case hardened() && strings.Contains(name, "agentd") && name != "kill agentd":
				require.NotEqual(t, done, alone[name], "agentd is not dumpable")
			default: // or the attack proves nothing
				require.Equal(t, done, alone[name])
			}
			if name != "its port" { // its own loopback device has that too
				require.NotEqual(t, done, isolated[name])
			}
		})
	}
	require.NoError(t, readSecret(w.Secret))
	require.NoError(t, readSecret(w.Config))
}

// With the host's network agentd's own port is refused in every way, and so is
// taking a port; what is permitted can be reached.
func TestTheHostsNetworkWithoutAgentd(t *testing.T) {
	w := newWorld(t)
	s := w.sandbox(t, func(c *isolate.Config) {
		c.Network, c.Ports, c.OwnPorts = isolate.NetworkHost, []uint16{uint16(w.Other)}, []uint16{uint16(w.Port)}
	})
	for name, outcome := range w.attack(t, s, slices.Collect(maps.Keys(networkAttacks()))) {
		require.Equal(t, name == "a permitted port", outcome == done, "%s: %s", name, outcome)
	}
}

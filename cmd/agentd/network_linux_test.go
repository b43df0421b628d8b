package main_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// With tools.network: host a command reaches the ports that are named and not
// agentd's, and every start says so.
func TestAToolThatHasANetwork(t *testing.T) {
	h := newHomeIn(t, seenByTools(t))
	if !h.isolates() {
		t.Skip("SKIPPED, NOTHING IS PROVED: this machine cannot shut tools off; agentd doctor says why")
	}
	outside, other, own := listening(t), listening(t), listening(t)
	require.NoError(t, own.Close()) // agentd's, in a moment
	h.edit(t, func(config string) string {
		config = strings.Replace(config, "addr: 127.0.0.1:0", "addr: "+own.Addr().String(), 1)
		return strings.Replace(config, "isolation: auto", fmt.Sprintf("isolation: auto\n  network: host\n  network-ports: [%d]", portOf(outside)), 1)
	})
	p := h.start()
	connect := "for port in %d %d %d; do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && echo reached $port; done; echo tried"
	query := plan{{{"Bash", fmt.Sprintf(`{"command":%q}`, fmt.Sprintf(connect, portOf(outside), portOf(other), portOf(own)))}}}.query()
	s := p.as(agentToken).begin(t, query)
	p.as(aliceToken).approve(t, s.until(t, "approval_request").RequestID)
	require.Equal(t, "STOP", s.rest(t).Reason)
	require.Contains(t, h.model.told(query, callID(0, 0)), fmt.Sprintf("reached %d\ntried", portOf(outside)))
	code, _ := p.stop()
	require.Zero(t, code)
	starts := all[*events.ToolStarted](readLog(t, h.path("data", "journal.db")))
	require.Len(t, starts, 1)
	require.Equal(t, fmt.Sprintf("linux/1;network=host:%d", portOf(outside)), starts[0].Isolation)
}

// edit changes the configuration.
func (h *home) edit(t *testing.T, change func(string) string) {
	t.Helper()
	config, err := os.ReadFile(h.path("agentd.yaml"))
	require.NoError(t, err)
	changed := change(string(config))
	require.NotEqual(t, string(config), changed)
	h.write("agentd.yaml", changed, 0o600)
}

// listening is a server that takes connections until the test ends.
func listening(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // it may be closed
	return l
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

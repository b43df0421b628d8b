package main_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// promtool reads what the real agentd exports and finds nothing to say.
func TestPromtoolFindsNothing(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		needed(t, "there is no promtool (Debian's package prometheus has it)", err)
	}
	h := newHome(t)
	p := h.start()
	s := p.as(agentToken).begin(t, plan{{count("Count", "asks"), count("Tally", "free")}}.query())
	p.as(aliceToken).approve(t, s.until(t, "approval_request").RequestID)
	s.rest(t)
	eventually(t, "the views have read it", func() bool {
		return strings.Contains(metricsOf(t, p), `countersign_tool_calls_total{origin="main",outcome="executed",tool="Tally"} 1`)
	})
	cmd := exec.Command(promtool, "check", "metrics")
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(metricsOf(t, p)), &said, &said
	require.NoError(t, cmd.Run(), said.String())
	require.Empty(t, said.String())
}

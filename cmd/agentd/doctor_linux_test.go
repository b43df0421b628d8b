package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctor(t *testing.T) {
	text := agentd(t, t.TempDir(), nil, "doctor")
	if text.code == 1 {
		t.Skipf("SKIPPED, NOTHING IS PROVED: %s", text.stderr) // what a kernel forbids cannot be installed
	}
	require.Zero(t, text.code, text.stderr)
	require.Regexp(t, `(?m)^ok +user namespaces +available$`, text.out)
	require.Regexp(t, `(?m)^ok +trial +a sandbox was made in `, text.out)
	require.Contains(t, text.out, "Tools can be isolated on this machine.\n")

	said := diagnosis(t, agentd(t, t.TempDir(), nil, "doctor", "--json").out)
	require.True(t, said.Isolation)
	for _, p := range said.Parts {
		require.True(t, p.OK || !p.Needed, p.Name)
	}
	require.Equal(t, 2, agentd(t, t.TempDir(), nil, "doctor", "head").code)
}

// A machine whose administrator switched user namespaces off.
func TestDoctorSaysWhatIsMissing(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "unshare", "-Ur", "true").Run(); err != nil {
		t.Skipf("SKIPPED, NOTHING IS PROVED: this machine has no user namespaces to switch off: %v", err)
	}
	const off = `echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"`
	for _, form := range [][]string{{"doctor"}, {"doctor", "--json"}} {
		args := append([]string{"-Ur", "sh", "-c", off, os.Getenv(binaryEnv)}, form...)
		cmd := exec.CommandContext(t.Context(), "unshare", args...)
		var out, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &stderr
		require.Error(t, cmd.Run())
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), stderr.String())
		require.Contains(t, stderr.String(), "cannot isolate tools")
		if len(form) == 1 {
			require.Regexp(t, `(?m)^missing +user namespaces +/proc/sys/user/max_user_namespaces is 0\n +do: as root: sysctl -w `, out.String())
			require.NotContains(t, out.String(), "can be isolated")
			continue
		}
		require.False(t, diagnosis(t, out.String()).Isolation)
	}
}

type told struct {
	Isolation bool
	Parts     []struct {
		Name, Detail, Remedy string
		OK, Needed           bool
	}
}

func diagnosis(t *testing.T, text string) (said told) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &said))
	require.NotEmpty(t, said.Parts)
	return said
}

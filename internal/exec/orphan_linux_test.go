package exec_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
)

// childEnv makes this test binary an agentd that runs one command.
const childEnv = "EXEC_TEST_CHILD"

func TestCommandsDieWithUs(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		_, err := exec.Run(t.Context(), exec.Command{
			Argv: []string{"/bin/sh", "-c", "echo $$ >pid.new; mv pid.new pid; exec sleep 60"}, Dir: dir, Timeout: time.Minute,
		})
		t.Fatalf("the command ended before us: %v", err)
	}
	dir := t.TempDir()
	us, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^TestCommandsDieWithUs$"},
		&os.ProcAttr{Env: []string{childEnv + "=" + dir}})
	require.NoError(t, err)
	var pid string
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(dir + "/pid")
		pid = strings.TrimSpace(string(text))
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	require.False(t, dead(pid), "process %s runs", pid)
	require.NoError(t, us.Kill())
	_, err = us.Wait()
	require.NoError(t, err)
	require.Eventually(t, func() bool { return dead(pid) }, 5*time.Second, 5*time.Millisecond)
}

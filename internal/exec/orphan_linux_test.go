package exec_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
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

// A sandbox ends with us, also what made itself a daemon.
func TestSandboxesDieWithUs(t *testing.T) {
	shutsOff(t)
	if dir := os.Getenv(childEnv); dir != "" {
		sandbox, err := isolate.New(isolate.Probe(t.Context()), isolate.Config{Writable: []string{dir}})
		require.NoError(t, err)
		_, err = exec.Run(t.Context(), exec.Command{
			Argv: []string{"/bin/sh", "-c", "setsid -f sh -c 'while :; do echo x >>beat; sleep 0.01; done'; exec sleep 60"},
			Dir:  dir, Env: exec.Environment(nil), Timeout: time.Minute, Sandbox: sandbox,
		})
		t.Fatalf("the command ended before us: %v", err)
	}
	dir := lasting(t)
	us, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^TestSandboxesDieWithUs$"},
		&os.ProcAttr{Env: []string{childEnv + "=" + dir}})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return anyIn(t, dir) }, 10*time.Second, 5*time.Millisecond)
	require.Eventually(t, func() bool { return size(dir+"/beat") > 0 }, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, us.Kill())
	_, err = us.Wait()
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !anyIn(t, dir) }, 5*time.Second, 5*time.Millisecond)
	last := size(dir + "/beat")
	require.Never(t, func() bool { return size(dir+"/beat") != last }, 200*time.Millisecond, 50*time.Millisecond)
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

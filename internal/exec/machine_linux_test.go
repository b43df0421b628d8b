package exec_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
)

// What is hidden is mounted elsewhere, too: by somebody who may.
func TestWhatIsMountedTwice(t *testing.T) {
	if os.Getenv(mountEnv) == "" {
		again(t, "TestWhatIsMountedTwice", unix.CLONE_NEWUSER|unix.CLONE_NEWNS)
		return
	}
	w := newWorld(t)
	twice, part, all := filepath.Join(w.Outside, "twice"), filepath.Join(w.Outside, "part"), filepath.Join(w.Outside, "all")
	for from, to := range map[string]string{w.Hidden: twice, filepath.Join(w.Hidden, "part"): part, filepath.Dir(w.Hidden): all} {
		require.NoError(t, os.MkdirAll(from, 0o755))
		require.NoError(t, os.MkdirAll(to, 0o755))
		require.NoError(t, unix.Mount(from, to, "", unix.MS_BIND, ""))
	}
	require.NoError(t, os.WriteFile(filepath.Join(part, "key"), []byte(secret), 0o600))
	s := w.sandbox(t)
	for _, path := range []string{w.Secret, twice + "/journal.db", part + "/key", all + "/data/journal.db", all + "/etc/agentd.yaml"} {
		c := w.shell("cat "+path, nil)
		require.Equal(t, secret, string(run(t, c).Stdout.Kept), path)
		c.Sandbox = s
		require.NotZero(t, run(t, c).ExitCode, path)
	}
}

const mountEnv = "EXEC_TEST_MOUNT"

// again runs a test in namespaces of its own, as their root.
func again(t *testing.T, name string, namespaces uintptr) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^" + name + "$", "-test.v"}, &os.ProcAttr{
		Env: append(os.Environ(), mountEnv+"=1", placeEnv+"="+lasting(t)), Files: []*os.File{nil, out, out},
		Sys: &syscall.SysProcAttr{
			Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		},
	})
	require.NoError(t, err)
	state, err := p.Wait()
	require.NoError(t, err)
	said, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.True(t, state.Success(), "%s", said)
	require.Contains(t, string(said), "--- PASS: "+name)
}

// A machine that was told to have no user namespaces says so, and nothing is
// made a sandbox that is none.
func TestAMachineWithoutUserNamespaces(t *testing.T) {
	if os.Getenv(mountEnv) == "" {
		again(t, "TestAMachineWithoutUserNamespaces", unix.CLONE_NEWUSER)
		return
	}
	before := isolate.Probe(t.Context())
	require.Empty(t, before.Missing())
	s, err := isolate.New(before, isolate.Config{Writable: []string{t.TempDir()}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))

	missing := isolate.Probe(t.Context()).Missing()
	require.Len(t, missing, 1)
	require.Equal(t, "user namespaces", missing[0].Name)
	require.Contains(t, missing[0].Remedy, "sysctl -w user.max_user_namespaces")
	_, err = isolate.New(isolate.Machine{Parts: missing}, isolate.Config{})
	require.ErrorIs(t, err, isolate.ErrCannot)
	require.ErrorContains(t, err, "/proc/sys/user/max_user_namespaces is 0")

	dir := t.TempDir()
	_, err = exec.Run(t.Context(), exec.Command{Argv: []string{"/usr/bin/touch", dir + "/ran"}, Dir: dir, Sandbox: s})
	require.ErrorIs(t, err, exec.ErrNotStarted, "taken away after the probe")
	require.NoFileExists(t, dir+"/ran")
}

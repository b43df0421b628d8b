package exec_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
)

// somebody is a user without rights.
const somebody = 65534

// An agentd that is not root and not dumpable shuts tools off as well. Where
// these tests are not root's, all of them are such a proof but for Harden.
func TestAnAgentdThatIsNotRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		shutsOff(t)
		return
	}
	home := lasting(t)
	tests := filepath.Join(home, "tests")
	copyProgram(t, tests)
	require.NoError(t, os.Mkdir(filepath.Join(home, ".cache"), 0o755))
	for _, path := range []string{home, tests, filepath.Join(home, ".cache")} {
		require.NoError(t, os.Chown(path, somebody, somebody))
	}
	out, err := os.Create(filepath.Join(home, "out"))
	require.NoError(t, err)
	p, err := os.StartProcess(tests, []string{tests, "-test.run=" + asSomebody, "-test.v"}, &os.ProcAttr{
		Dir: home, Env: []string{"HOME=" + home, "TMPDIR=" + home, "PATH=/usr/bin:/bin", hardenEnv + "=1"},
		Files: []*os.File{nil, out, out},
		Sys:   &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}, Pdeathsig: syscall.SIGKILL},
	})
	require.NoError(t, err)
	state, err := p.Wait()
	require.NoError(t, err)
	said, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.True(t, state.Success(), "%s", said)
	require.Equal(t, 5, strings.Count(string(said), "\n--- PASS"), "%s", said)
}

// asSomebody are the tests that a user without rights runs again.
const asSomebody = "TestHostileProgramsAreShutOff|TestTheHostsNetwork|TestLimitsOfASandbox|TestNothingOutlives|TestACommandsWorld"

// What the operator changes while a command runs stays hidden.
func TestWhatBecomesHiddenLater(t *testing.T) {
	w := newWorld(t)
	late := filepath.Join(filepath.Dir(w.Hidden), "late")
	s := w.sandbox(t, func(c *isolate.Config) { c.Hidden = append(c.Hidden, late) })
	for name, test := range map[string]struct {
		path   string
		change func() error
	}{
		"a file that was replaced":    {w.Config, func() error { return replaced(w.Config) }},
		"a file that was deleted":     {w.Config, func() error { return rewritten(w.Config) }},
		"a folder that was made":      {filepath.Join(late, "key"), func() error { return keyIn(late) }},
		"a file of a folder that was": {w.Secret, func() error { return replaced(w.Secret) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.shell("echo >begun; until [ -e go ]; do sleep 0.02; done; rm begun go; cat "+test.path, s)
			changed := make(chan error, 1)
			go func() {
				changed <- func() error {
					for _, err := os.Stat(filepath.Join(w.Workspace, "begun")); err != nil; _, err = os.Stat(filepath.Join(w.Workspace, "begun")) {
						if t.Context().Err() != nil {
							return err
						}
					}
					if err := test.change(); err != nil {
						return err
					}
					return os.WriteFile(filepath.Join(w.Workspace, "go"), nil, 0o600)
				}()
			}()
			result := run(t, c)
			require.NoError(t, <-changed)
			require.NoError(t, readSecret(test.path), "the test sees it")
			require.Empty(t, result.Stdout.Kept)
			require.Equal(t, 1, result.ExitCode, "%s", result.Stderr.Kept)
		})
	}
}

func rewritten(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(secret), 0o666)
}

func keyIn(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "key"), []byte(secret), 0o666)
}

// A sandbox that cannot be made for a command runs nothing.
func TestCommandsThatCannotBeStartedInASandbox(t *testing.T) {
	w := newWorld(t)
	s := w.sandbox(t)
	for name, change := range map[string]func(*exec.Command){
		"no such program":  func(c *exec.Command) { c.Argv[0] = "/nonesuch" },
		"a hidden program": func(c *exec.Command) { c.Argv[0] = w.Secret },
		"a hidden folder":  func(c *exec.Command) { c.Dir = w.Hidden },
		"a folder in /run": func(c *exec.Command) { c.Dir = "/run/lock" },
	} {
		t.Run(name, func(t *testing.T) {
			c := w.shell("touch ran", s)
			change(&c)
			_, err := exec.Run(t.Context(), c)
			require.ErrorIs(t, err, exec.ErrNotStarted)
			require.NoFileExists(t, filepath.Join(w.Workspace, "ran"))
		})
	}
}

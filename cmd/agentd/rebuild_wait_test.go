package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A folder that is none of ours is refused, and nothing is put into it.
func TestRebuildLeavesAWrongFolderAsItIs(t *testing.T) {
	dir := t.TempDir()
	require.Zero(t, agentd(t, dir, nil, "generate", "--data-dir", "ours", "--events", "10").code)
	views, err := os.ReadFile(filepath.Join(dir, "ours", "gate.db"))
	if err != nil {
		views = []byte("SQLite format 3\x00, of another program")
	}
	for name, files := range map[string]map[string][]byte{
		"empty":                        {},
		"notes":                        {"notes.txt": []byte("hello")},
		"a journal of something else":  {"journal.db": []byte("Dear diary")},
		"nothing in it":                {"journal.db": {}},
		"the database of another part": {"journal.db": views},
	} {
		folder := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(folder, 0o700))
		for file, content := range files {
			require.NoError(t, os.WriteFile(filepath.Join(folder, file), content, 0o600))
		}
		done := agentd(t, dir, nil, "rebuild", "--data-dir", name)
		require.Equal(t, 1, done.code, name)
		require.Contains(t, done.stderr, "there is no log to rebuild from", name)
		found, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, found, len(files), "%s: %v", name, found)
	}
}

// While agentd starts it has locked the directory and does not listen yet: the
// command waits.
func TestRebuildWaitsForAnAgentdThatStarts(t *testing.T) {
	dir := t.TempDir()
	require.Zero(t, agentd(t, dir, nil, "generate", "--data-dir", "data", "--events", "500").code)
	lock, err := os.OpenFile(filepath.Join(dir, "data", "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	p := &process{
		t: t, cmd: exec.Command(os.Getenv(binaryEnv), "rebuild", "--data-dir", "data"), out: newOutput(), errs: newOutput(), done: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, environment(), p.out, p.errs
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(p.kill)
	p.said("waiting for it to start, or to end")
	require.NoError(t, lock.Close())
	p.said(`rebuilt: \d+ records`)
	<-p.done
	require.Zero(t, p.cmd.ProcessState.ExitCode(), "%s", p.errs)
}

// What stands in the way of a rebuild is said once.
func TestRebuildSaysOnceWhatIsInItsWay(t *testing.T) {
	dir := t.TempDir()
	require.Zero(t, agentd(t, dir, nil, "generate", "--data-dir", "data", "--events", "500").code)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data", "views.db.new", "x"), 0o700))
	done := agentd(t, dir, nil, "rebuild", "--data-dir", "data")
	require.Equal(t, 1, done.code)
	require.Regexp(t, `\A[^\n]*views: delete the old views: remove [^\n]*views\.db\.new: directory not empty[^\n]*\n\z`, done.stderr)
	require.NotRegexp(t, `delete the old views.*delete the old views`, done.stderr)
}

package tools_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/tools"
)

// A bind mount shows a protected folder, a part of it, or what contains it under
// a path that has nothing of it.
func TestAWorkspaceThatIsMountedElsewhere(t *testing.T) {
	for _, c := range []struct{ name, from, at, workspace, protected string }{
		{"the protected folder is the workspace", "data", "ws", "ws", "data"},
		{"a part of it is", "data/inner", "ws", "ws", "data"},
		{"a part of it is in the workspace", "data/inner", "ws/sub", "ws", "data"},
		{"it is in the workspace", "data", "ws/sub", "ws", "data"},
		{"what contains it is in the workspace", ".", "ws/sub", "ws", "data"},
		{"the workspace is in the protected folder", "ws", "data/inner", "ws", "data"},
		{"a part of the workspace is protected", "ws/sub", "data", "ws", "data"},
		{"a file of it is in the workspace", "data/file", "ws/file", "ws", "data/file"},
		{"they are apart", "other", "ws/sub", "ws", "data"},
		{"it is hidden by another mount", "other", "data/inner", "data/inner", "data/file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			path := func(name string) string { return filepath.Join(top, name) }
			for _, file := range []string{"data/inner/x", "data/file", "ws/sub/x", "ws/file", "other/x"} {
				write(t, path(file), "x")
			}
			if err := syscall.Mount(path(c.from), path(c.at), "", syscall.MS_BIND, ""); err != nil {
				t.Skipf("SKIPPED, NOTHING IS PROVED: this user cannot mount: %v", err)
			}
			t.Cleanup(func() { require.NoError(t, syscall.Unmount(path(c.at), syscall.MNT_DETACH)) })
			_, err := tools.New(tools.Options{Workspace: path(c.workspace), Protected: []string{path(c.protected)}})
			if c.from == "other" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tools.ErrOptions)
			require.ErrorContains(t, err, "must not contain each other")
		})
	}
}

// A folder that has not been made yet is apart from nothing that its parent is
// not apart from.
func TestAProtectedFolderThatIsNotThere(t *testing.T) {
	top := t.TempDir()
	ws := filepath.Join(top, "ws")
	require.NoError(t, os.MkdirAll(ws, 0o755))
	require.NoError(t, os.Symlink(ws, filepath.Join(top, "link")))
	_, err := tools.New(tools.Options{Workspace: ws, Protected: []string{filepath.Join(top, "link", "data", "deeper")}})
	require.ErrorContains(t, err, "must not contain each other")
}

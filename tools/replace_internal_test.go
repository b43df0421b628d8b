package tools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

// Where the file system cannot make files change places, the look comes just
// before the rename.
func TestPuttingAFileWithoutAnExchange(t *testing.T) {
	for _, c := range []struct {
		name   string
		before string // "": there is none
		moves  func(path string) error
		after  string
		stale  bool
	}{
		{"as it was", "old", func(string) error { return nil }, "new", false},
		{"a new file", "", func(string) error { return nil }, "new", false},
		{"made meanwhile", "", func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o600) }, "theirs", true},
		{"written into", "old", func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o600) }, "theirs", true},
		{"another one in its place", "old", func(path string) error {
			return os.Rename(filepath.Join(filepath.Dir(path), "other"), path)
		}, "old", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), []byte("old"), 0o600))
			if c.before != "" {
				require.NoError(t, os.WriteFile(path, []byte(c.before), 0o600))
			}
			w, err := openWorkspace(dir, nil)
			require.NoError(t, err)
			target, err := w.target("f", false)
			require.NoError(t, err)
			defer target.close()
			_, err = target.read(maxTarget)
			require.NoError(t, err)
			f, err := target.write("fresh", []byte("new"))
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.NoError(t, c.moves(path))

			err = target.putUnguarded("fresh")
			if c.stale {
				require.ErrorIs(t, err, agent.ErrStale)
			} else {
				require.NoError(t, err)
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.after, string(after))
		})
	}
}

package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParsingMounts(t *testing.T) {
	const text = `22 1 254:0 / / rw,relatime - ext4 /dev/root rw
30 22 254:0 /srv/my\040data /mnt/a\134b rw,relatime shared:1 - ext4 /dev/root rw
31 22 0:40 / /tmp rw - tmpfs tmpfs rw
`
	all, err := parseMounts(strings.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, mounts{
		{at: "/", device: "254:0", root: "/"}, {at: `/mnt/a\b`, device: "254:0", root: "/srv/my data"}, {at: "/tmp", device: "0:40", root: "/"},
	}, all)
	require.True(t, all.overlap(`/mnt/a\b/inner`, "/srv/my data"))
	require.True(t, all.overlap("/srv/my data/x", `/mnt/a\b`))
	require.False(t, all.overlap("/tmp/srv", "/srv/my data"))
	_, err = parseMounts(strings.NewReader("36 35\n"))
	require.ErrorContains(t, err, "is not understood")
}

// One folder under two paths is told by what it is, as on a file system that
// ignores case. A link stands for that here, which is not followed before.
func TestAFolderAboveUnderAnotherName(t *testing.T) {
	top := t.TempDir()
	data, alias := filepath.Join(top, "data"), filepath.Join(top, "DATA")
	require.NoError(t, os.MkdirAll(filepath.Join(data, "inner"), 0o755))
	require.NoError(t, os.Symlink(data, alias))
	for path, above := range map[string]bool{
		alias: true, filepath.Join(alias, "inner"): true, filepath.Join(alias, "none", "x"): true, filepath.Join(top, "other"): false, top: false,
	} {
		require.Equal(t, above, isAbove(data, path), path)
	}
	require.False(t, isAbove(filepath.Join(top, "none"), data))
}

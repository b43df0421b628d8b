package tools_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A folder and a file of the workspace change places with links that lead out,
// as fast as possible, while the tools use them.
func TestRacingLinksDoNotLeadOut(t *testing.T) {
	b := newBench(t)
	b.file("folder/outside.txt", "inside\n")
	require.NoError(t, os.Symlink(filepath.Dir(b.dir), b.path("way-out")))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				swap(t, b)
			}
		}
	})
	reads := 0
	for range 300 {
		for _, path := range []string{"folder/outside.txt", "file"} {
			out, err := b.run("Read", args{"path": path})
			require.NotContains(t, string(out.Content), "secret")
			if err == nil {
				reads++
			}
			for _, tool := range []string{"Write", "Edit"} {
				_, _ = b.run(tool, argumentsFor(tool, path)) // may fail, must not get out
			}
		}
	}
	close(stop)
	swapper.Wait()
	require.Positive(t, reads, "some calls met the real files")
	b.unharmed()
}

// swap exchanges the folder and a link in one step, and puts first a link and
// then a real file in the file's place.
func swap(t *testing.T, b *bench) {
	err := unix.Renameat2(unix.AT_FDCWD, b.path("folder"), unix.AT_FDCWD, b.path("way-out"), unix.RENAME_EXCHANGE)
	if err != nil {
		t.Error(err)
	}
	_ = os.Symlink(b.outside(), b.path("next"))
	_ = os.Rename(b.path("next"), b.path("file"))
	_ = os.WriteFile(b.path("next"), []byte("inside\n"), 0o644)
	_ = os.Rename(b.path("next"), b.path("file"))
}

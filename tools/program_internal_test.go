package tools

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The program is verified by its content, however it came to be another one.
func TestVerifyingAProgram(t *testing.T) {
	const was = "#!/bin/sh\necho one\n"
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string)
		says   string // "": it is the one
	}{
		{"as it was", func(*testing.T, string) {}, ""},
		{"touched", func(t *testing.T, path string) { require.NoError(t, os.Chtimes(path, time.Now(), time.Now())) }, ""},
		{"the same content in another file", func(t *testing.T, path string) { replaceFile(t, path, was) }, ""},
		{"another file", func(t *testing.T, path string) { replaceFile(t, path, "#!/bin/sh\necho two\n") }, "is not the file that the tool was defined with"},
		{"written into, its times set back", func(t *testing.T, path string) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho two\n"), 0o755))
			require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		}, "is not the file"},
		{"a link to another one", func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink("/bin/sh", path))
		}, "is not the file"},
		{"removed", func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, "no such file"},
		{"a folder", func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o755))
		}, "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tool.sh")
			require.NoError(t, os.WriteFile(path, []byte(was), 0o755))
			p, err := newProgram(path)
			require.NoError(t, err)
			c.change(t, path)
			err = p.Verify(t.Context())
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrOtherProgram)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func replaceFile(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".next", []byte(content), 0o755))
	require.NoError(t, os.Rename(path+".next", path))
}

// Only a large native binary that nobody has touched for a while is taken for
// what it was without being read.
func TestWhatIsNotReadAgain(t *testing.T) {
	native := append([]byte("\x7fELF"), bytes.Repeat([]byte{1}, readAgain)...)
	script := append([]byte("#!/x"), bytes.Repeat([]byte{1}, readAgain)...)
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name    string
		content []byte
		age     time.Duration // since its last change
		cached  bool
	}{
		{"a large binary", native, 2 * settled, true},
		{"that was changed just now", native, 0, false},
		{"a small one", native[:readAgain], 2 * settled, false},
		{"a large script", script, 2 * settled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tool")
			require.NoError(t, os.WriteFile(path, c.content, 0o755))
			require.NoError(t, os.Chtimes(path, old, old))
			p := &program{path: path, now: func() time.Time { return time.Now().Add(c.age) }}
			digest, err := p.read()
			require.NoError(t, err)
			p.digest = digest
			_, err = p.read()
			require.NoError(t, err)
			require.Equal(t, c.cached, p.seen != stamp{})

			other := bytes.Clone(c.content)
			other[len(other)-1] = 2
			require.NoError(t, os.WriteFile(path, other, 0o755))
			require.NoError(t, os.Chtimes(path, old, old))
			require.ErrorIs(t, p.Verify(t.Context()), ErrOtherProgram, "size and time of writing are the same")
		})
	}
}

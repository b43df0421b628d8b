package tools_test

import (
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/tools"
)

// hostile makes a workspace full of things that are not plain files in it.
func hostile(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.file("a.txt", "one\n")
	b.file("dir/b.txt", "two\n")
	require.NoError(t, os.Symlink(b.outside(), b.path("link-abs")))
	require.NoError(t, os.Symlink("../outside.txt", b.path("link-rel")))
	require.NoError(t, os.Symlink("..", b.path("up")))
	require.NoError(t, os.Symlink("a.txt", b.path("link-in")))
	require.NoError(t, os.Symlink("loop", b.path("loop")))
	require.NoError(t, os.Symlink("/dev/null", b.path("null")))
	require.NoError(t, syscall.Mkfifo(b.path("pipe"), 0o644))
	require.NoError(t, os.Link(b.outside(), b.path("hard")))
	b.file("locked.txt", "read me\n")
	require.NoError(t, os.Chmod(b.path("locked.txt"), 0o444))
	socket, err := net.Listen("unix", b.path("sock"))
	require.NoError(t, err)
	t.Cleanup(func() { socket.Close() })
	return b
}

func TestFileToolsRefuse(t *testing.T) {
	const read, change, all = "Read", "Write Edit", "Read Write Edit"
	b := hostile(t)
	for _, test := range []struct {
		path, tools string
		is          error
		text        string
	}{
		{path: "", tools: all, is: tools.ErrArguments, text: "empty"},
		{path: "a\x00.txt", tools: all, is: tools.ErrArguments, text: "NUL"},
		{path: "../outside.txt", tools: all, is: tools.ErrOutside},
		{path: "dir/../../outside.txt", tools: all, is: tools.ErrOutside},
		{path: b.outside(), tools: all, is: tools.ErrOutside},
		{path: b.dir + "/../outside.txt", tools: all, is: tools.ErrOutside},
		{path: b.dir + "x", tools: all, is: tools.ErrOutside},
		{path: "/etc/passwd", tools: all, is: tools.ErrOutside},
		{path: "/proc/self/environ", tools: all, is: tools.ErrOutside},
		{path: "~/x", tools: read, is: fs.ErrNotExist},
		{path: "up/outside.txt", tools: read, text: "escapes"},
		{path: "up/outside.txt", tools: change, is: tools.ErrRefused, text: "symbolic link"},
		{path: "dir/../up/outside.txt", tools: read, text: "escapes"},
		{path: "dir/../up/outside.txt", tools: change, is: tools.ErrRefused, text: "symbolic link"},
		{path: "up/ws/a.txt", tools: read, text: "escapes"},
		{path: "up/ws/a.txt", tools: change, is: tools.ErrRefused, text: "symbolic link"},
		{path: "link-abs", tools: read, text: "escapes"},
		{path: "link-rel", tools: read, text: "escapes"},
		{path: "null", tools: read, text: "escapes"},
		{path: "link-abs", tools: change, is: tools.ErrNotRegular, text: "symbolic link"},
		{path: "link-rel", tools: change, is: tools.ErrNotRegular, text: "symbolic link"},
		{path: "link-in", tools: change, is: tools.ErrNotRegular, text: "symbolic link"},
		{path: "loop", tools: read, text: "too many levels"},
		{path: "pipe", tools: all, is: tools.ErrNotRegular, text: "named pipe"},
		{path: "sock", tools: all, is: tools.ErrNotRegular, text: "socket"},
		{path: "dir", tools: all, is: tools.ErrNotRegular, text: "directory"},
		{path: "dir/", tools: all, is: tools.ErrNotRegular, text: "directory"},
		{path: ".", tools: all, is: tools.ErrNotRegular, text: "directory"},
		{path: "dir/..", tools: all, is: tools.ErrNotRegular, text: "directory"},
		{path: b.dir, tools: all, is: tools.ErrNotRegular, text: "directory"},
		{path: "hard", tools: all, is: tools.ErrRefused, text: "2 names"},
		{path: "locked.txt", tools: change, is: tools.ErrRefused, text: "mode 0444"},
		{path: "a.txt/b", tools: all, text: "not a directory"},
		{path: "none.txt", tools: "Read Edit", is: fs.ErrNotExist, text: `"none.txt"`},
		{path: "none/none.txt", tools: "Read Edit", is: fs.ErrNotExist},
		{path: strings.Repeat("n", 300), tools: all, text: "file name too long"},
	} {
		for tool := range strings.FieldsSeq(test.tools) {
			t.Run(tool+" "+test.path, func(t *testing.T) {
				_, err := b.run(tool, argumentsFor(tool, test.path))
				require.Error(t, err)
				if test.is != nil {
					require.ErrorIs(t, err, test.is)
				}
				require.ErrorContains(t, err, test.text)
			})
		}
	}
	b.unharmed()
	require.Equal(t, "one\n", b.content("a.txt"))
	require.NoDirExists(t, b.path("none"))
}

func argumentsFor(tool, path string) args {
	switch tool {
	case "Write":
		return args{"path": path, "content": "changed"}
	case "Edit":
		return args{"path": path, "old": "e", "new": "changed", "replace_all": true}
	}
	return args{"path": path}
}

func TestDevicesAreRefused(t *testing.T) {
	b := newBench(t)
	if err := syscall.Mknod(b.path("zero"), syscall.S_IFCHR|0o666, 1<<8|5); err != nil {
		t.Skipf("this user cannot make a device file: %v", err)
	}
	for _, tool := range []string{"Read", "Write", "Edit"} {
		_, err := b.run(tool, argumentsFor(tool, "zero"))
		require.ErrorIs(t, err, tools.ErrNotRegular)
		require.ErrorContains(t, err, "device")
	}
}

func TestPathsInTheWorkspaceAreTaken(t *testing.T) {
	b := hostile(t)
	for path, want := range map[string]string{
		"a.txt":              "one\n",
		"./a.txt":            "one\n",
		"dir/../a.txt":       "one\n",
		"dir//b.txt":         "two\n",
		b.path("a.txt"):      "one\n",
		"link-in":            "one\n",
		"locked.txt":         "read me\n",
		b.dir + "/dir/b.txt": "two\n",
	} {
		out, err := b.run("Read", args{"path": path})
		require.NoError(t, err, path)
		require.Equal(t, want, string(out.Content), path)
	}
}

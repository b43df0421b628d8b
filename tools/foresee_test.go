package tools_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/tools"
)

func (b *bench) foresee(tool string, arguments args, earlier agent.Overlay) (agent.Foreseen, error) {
	b.t.Helper()
	text, err := json.Marshal(arguments)
	require.NoError(b.t, err)
	return b.changer(tool).Foresee(b.t.Context(), text, earlier)
}

func (b *bench) changer(tool string) agent.Changer {
	b.t.Helper()
	c, ok := b.tools[tool].(agent.Changer)
	require.True(b.t, ok)
	return c
}

func digest(content string) events.Digest { return events.DigestOf([]byte(content)) }

func TestWhatACallWouldChange(t *testing.T) {
	b := newBench(t)
	b.file("a.txt", "one\ntwo\n")
	b.file("bytes", "a\x00b")
	b.file("long", strings.Repeat("x\n", 2<<20))
	for _, c := range []struct {
		name, tool string
		arguments  args
		earlier    agent.Overlay
		target     events.Target
		diff, note string
		after      string
	}{
		{
			"an edit", "Edit",
			args{"path": "a.txt", "old": "two", "new": "2"},
			nil,
			events.Target{Path: "a.txt", Digest: digest("one\ntwo\n")},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "a.txt of 8 bytes (SHA-256 " + string(digest("one\ntwo\n")) + ") becomes 6 bytes", "one\n2\n",
		},
		{
			"a file that is replaced", "Write",
			args{"path": "./a.txt", "content": "1\n"},
			nil,
			events.Target{Path: "a.txt", Digest: digest("one\ntwo\n")},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n-one\n-two\n+1\n", "becomes 2 bytes", "1\n",
		},
		{
			"by its full path", "Write",
			args{"path": b.path("x/../a.txt"), "content": "1\n"},
			nil,
			events.Target{Path: "a.txt", Digest: digest("one\ntwo\n")},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1 @@\n-one\n-two\n+1\n", "becomes 2 bytes", "1\n",
		},
		{
			"a new file", "Write",
			args{"path": "new", "content": "1\n"},
			nil,
			events.Target{Path: "new"},
			"--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+1\n", "new is a new file of 2 bytes", "1\n",
		},
		{
			"in new folders", "Write",
			args{"path": "p/q/new", "content": "1\n"},
			nil,
			events.Target{Path: "p/q/new"},
			"Folders that would be made: p/q/ p/\n--- /dev/null\n+++ b/p/q/new\n@@ -0,0 +1 @@\n+1\n", "Folders that would be made: p/q/ p/", "1\n",
		},
		{"an empty new file", "Write", args{"path": "new", "content": ""}, nil, events.Target{Path: "new"}, "", "new is a new file, and empty.", ""},
		{"nothing", "Write", args{"path": "a.txt", "content": "one\ntwo\n"}, nil, events.Target{Path: "a.txt", Digest: digest("one\ntwo\n")}, "", "Nothing changes: a.txt has this content already", "one\ntwo\n"},
		{"bytes", "Edit", args{"path": "bytes", "old": "b", "new": "c"}, nil, events.Target{Path: "bytes", Digest: digest("a\x00b")}, "", "so there is no diff", "a\x00c"},
		{
			"a long file", "Edit",
			args{"path": "long", "old": "x", "new": "y", "replace_all": true},
			nil,
			events.Target{Path: "long", Digest: digest(strings.Repeat("x\n", 2<<20))},
			"", "too long for a diff", strings.Repeat("y\n", 2<<20),
		},
		{
			"over an earlier change", "Edit",
			args{"path": "a.txt", "old": "2", "new": "II"},
			agent.Overlay{"a.txt": []byte("one\n2\n")},
			events.Target{Path: "a.txt", Digest: digest("one\n2\n")},
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-2\n+II\n", "becomes", "one\nII\n",
		},
		{
			"over an earlier file in a new folder", "Edit",
			args{"path": "n/m", "old": "1", "new": "2"},
			agent.Overlay{"n/m": []byte("1\n")},
			events.Target{Path: "n/m", Digest: digest("1\n")},
			"Folders that would be made: n/\n--- a/n/m\n+++ b/n/m\n@@ -1 +1 @@\n-1\n+2\n", "becomes", "2\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := b.foresee(c.tool, c.arguments, c.earlier)
			require.NoError(t, err)
			require.Equal(t, c.target, f.Target)
			require.Equal(t, c.diff, string(f.Diff))
			require.Contains(t, f.Note, c.note)
			require.Equal(t, digest(c.after), events.DigestOf(f.After))
		})
	}
	require.Equal(t, "one\ntwo\n", b.content("a.txt"), "nothing was changed")
	require.NoDirExists(t, b.path("p"))
}

// What the call would be refused for is refused before anybody is asked.
func TestWhatCannotBeForeseen(t *testing.T) {
	b := hostile(t)
	require.NoError(t, os.Chmod(b.path("dir/b.txt"), 0o755|os.ModeSetuid))
	sparse, err := os.Create(b.path("sparse"))
	require.NoError(t, err)
	require.NoError(t, sparse.Truncate(65<<20))
	require.NoError(t, sparse.Close())
	for _, c := range []struct {
		tool, path string
		is         error
	}{
		{"Write", "../outside.txt", tools.ErrOutside},
		{"Write", "link-in", tools.ErrNotRegular},
		{"Edit", "hard", tools.ErrRefused},
		{"Write", "pipe", tools.ErrNotRegular},
		{"Edit", "locked.txt", tools.ErrRefused},
		{"Write", "dir/b.txt", tools.ErrRefused},
		{"Edit", "none.txt", os.ErrNotExist},
		{"Edit", "none/none.txt", os.ErrNotExist},
		{"Write", "sparse", tools.ErrTooLarge},
		{"Edit", "sparse", tools.ErrTooLarge},
	} {
		_, err := b.foresee(c.tool, argumentsFor(c.tool, c.path), nil)
		require.ErrorIs(t, err, c.is, "%s %s", c.tool, c.path)
	}
	_, err = b.foresee("Edit", args{"path": "a.txt", "old": "three", "new": "3"}, nil)
	require.ErrorContains(t, err, "does not occur")
	_, err = b.foresee("Write", args{"path": "a.txt/b", "content": "x"}, nil)
	require.ErrorContains(t, err, "not a directory")
	_, err = b.foresee("Write", args{"path": "a.txt"}, nil)
	require.ErrorIs(t, err, tools.ErrArguments)
	b.unharmed()
}

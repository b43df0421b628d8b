package tools_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/tools"
)

func TestWrite(t *testing.T) {
	b := newBench(t)
	b.file("old", "a long old content")
	for name, test := range map[string]struct{ path, content, said string }{
		"new":             {"new", "text", "wrote 4 bytes to new"},
		"in new folders":  {"x/y/z.txt", "é\n", "wrote 3 bytes to x/y/z.txt"},
		"in the place of": {"old", "short", "wrote 5 bytes to old"},
		"nothing":         {"empty", "", "wrote 0 bytes to empty"},
		"odd name":        {"a b\n<c>.txt", "x", "wrote 1 bytes to a b\n<c>.txt"},
		"NUL in content":  {"nul", "a\x00b", "wrote 3 bytes to nul"},
		"large":           {"large", strings.Repeat("0123456789", 90_000), "wrote 900000 bytes to large"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := b.run("Write", args{"path": test.path, "content": test.content})
			require.NoError(t, err)
			require.Equal(t, test.said, string(out.Content))
			require.Equal(t, test.content, b.content(test.path))
		})
	}
	b.unharmed()
}

func TestChangesKeepModeAndOwner(t *testing.T) {
	b := newBench(t)
	for tool, arguments := range map[string]args{
		"Write": {"path": "f", "content": "new"},
		"Edit":  {"path": "f", "old": "old", "new": "new"},
	} {
		b.file("f", "old")
		owned := os.Geteuid() == 0 && os.Chown(b.path("f"), 1234, 4321) == nil
		require.NoError(t, os.Chmod(b.path("f"), 0o750))
		_, err := b.run(tool, arguments)
		require.NoError(t, err)
		info, err := os.Stat(b.path("f"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o750), info.Mode())
		if stat := info.Sys().(*syscall.Stat_t); owned {
			require.Equal(t, []uint32{1234, 4321}, []uint32{stat.Uid, stat.Gid})
		}
		require.Equal(t, "new", b.content("f"))
		require.NoError(t, os.Remove(b.path("f")))
	}
	b.unharmed()
}

// A file that is read while it is replaced is either the old or the new one.
func TestWriteIsNeverSeenHalfDone(t *testing.T) {
	b := newBench(t)
	one, two := strings.Repeat("1", 300_000), strings.Repeat("2", 300_000)
	b.file("f", one)
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := range 20 {
			content := []string{one, two}[n%2]
			if _, err := b.run("Write", args{"path": "f", "content": content}); err != nil {
				t.Error(err)
			}
		}
	})
	for range 100 {
		content := b.content("f")
		require.True(t, content == one || content == two, "%d bytes", len(content))
	}
	writer.Wait()
}

func TestWriteSaysWhenTheDiskIsFull(t *testing.T) {
	b := newBench(t)
	b.file("f", "old")
	// A limit on file size stands in for a full disk; the Go runtime ignores
	// its signal, and the write fails as on a full one.
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: limit.Max}))
	_, err := b.run("Write", args{"path": "f", "content": strings.Repeat("x", 5000)})
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))

	require.ErrorIs(t, err, syscall.EFBIG)
	require.ErrorContains(t, err, `"f": file too large`)
	require.Equal(t, "old", b.content("f"))
	b.unharmed()
}

func TestEdit(t *testing.T) {
	const once = "replaced 1 occurrence in f (%d bytes before, %d after)"
	for name, test := range map[string]struct {
		before, old, new string
		all              bool
		after, said      string
	}{
		"one":              {before: "a b c", old: "b", new: "BB", after: "a BB c", said: fmt.Sprintf(once, 5, 6)},
		"to nothing":       {before: "a b c", old: " b", new: "", after: "a c", said: fmt.Sprintf(once, 5, 3)},
		"lines":            {before: "x\r\ny\r\n", old: "x\r\n", new: "z\n", after: "z\ny\r\n", said: fmt.Sprintf(once, 6, 5)},
		"all, one":         {before: "a b", old: "b", new: "c", all: true, after: "a c", said: fmt.Sprintf(once, 3, 3)},
		"not a pattern":    {before: "a.c abc", old: "a.c", new: "$1", after: "$1 abc", said: fmt.Sprintf(once, 7, 6)},
		"other bytes stay": {before: "\xff\x00é\xfe", old: "é", new: "e", after: "\xff\x00e\xfe", said: fmt.Sprintf(once, 5, 4)},
		"all": {
			before: "aXbXcX", old: "X", new: "-", all: true, after: "a-b-c-",
			said: "replaced 3 occurrences in f (6 bytes before, 6 after)",
		},
		"all, overlapping": {
			before: "aaaaa", old: "aa", new: "b", all: true, after: "bba",
			said: "replaced 2 occurrences in f (5 bytes before, 3 after)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file("f", test.before)
			out, err := b.run("Edit", args{"path": "f", "old": test.old, "new": test.new, "replace_all": test.all})
			require.NoError(t, err)
			require.Equal(t, test.said, string(out.Content))
			require.Equal(t, test.after, b.content("f"))
			b.unharmed()
		})
	}
}

func TestEditThatIsNotClear(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct {
		before, old, new string
		all              bool
		is               error
		text             string
	}{
		"not there":    {before: "abc", old: "B", new: "x", is: tools.ErrArguments, text: "does not occur in \"f\""},
		"empty file":   {before: "", old: "a", new: "x", is: tools.ErrArguments, text: "does not occur"},
		"twice":        {before: "b b", old: "b", new: "x", is: tools.ErrArguments, text: "occurs 2 times"},
		"overlapping":  {before: "aaa", old: "aa", new: "x", is: tools.ErrArguments, text: "occurs 2 times"},
		"nothing old":  {before: "abc", old: "", new: "x", is: tools.ErrArguments, text: "must not be empty"},
		"no change":    {before: "abc", old: "b", new: "b", is: tools.ErrArguments, text: "must differ"},
		"all, missing": {before: "abc", old: "z", new: "b", all: true, is: tools.ErrArguments, text: "does not occur"},
		"grows":        {before: large, old: "x", new: "0123456789abcdef0", all: true, is: tools.ErrTooLarge, text: "17825792 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file("f", test.before)
			_, err := b.run("Edit", args{"path": "f", "old": test.old, "new": test.new, "replace_all": test.all})
			require.ErrorIs(t, err, test.is)
			require.ErrorContains(t, err, test.text)
			require.Equal(t, test.before, b.content("f"))
		})
	}
}

func TestConcurrentEditsAreAllKept(t *testing.T) {
	b := newBench(t)
	b.file("f", "<0><1><2><3><4><5><6><7>")
	var editors sync.WaitGroup
	for n := range 8 {
		editors.Go(func() {
			_, err := b.run("Edit", args{"path": "f", "old": fmt.Sprintf("<%d>", n), "new": fmt.Sprintf("[%d]", n)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	editors.Wait()
	require.Equal(t, "[0][1][2][3][4][5][6][7]", b.content("f"))
}

package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

func (b *bench) change(tool string, arguments args, target events.Target) (agent.Output, error) {
	b.t.Helper()
	text, err := json.Marshal(arguments)
	require.NoError(b.t, err)
	return b.changer(tool).Change(b.t.Context(), text, target)
}

// A call is for the content that was approved, whatever became of the file.
func TestACallIsForItsTarget(t *testing.T) {
	const was = "old\n"
	for _, c := range []struct {
		name  string
		moves func(b *bench)
		after string // "": there is none
		runs  bool
	}{
		{"as it was", func(*bench) {}, "new\n", true},
		{"another file with the same content", func(b *bench) {
			b.file("next", was)
			require.NoError(b.t, os.Rename(b.path("next"), b.path("f")))
		}, "new\n", true},
		{"other content", func(b *bench) { b.file("f", "old\nmore\n") }, "old\nmore\n", false},
		{"removed", func(b *bench) { require.NoError(b.t, os.Remove(b.path("f"))) }, "", false},
		{"a link to what has the content", func(b *bench) {
			require.NoError(b.t, os.Rename(b.path("f"), b.path("real")))
			require.NoError(b.t, os.Symlink("real", b.path("f")))
		}, was, false},
		{"a second name of it", func(b *bench) { require.NoError(b.t, os.Link(b.path("f"), b.path("other"))) }, was, false},
		{"read-only now", func(b *bench) { require.NoError(b.t, os.Chmod(b.path("f"), 0o444)) }, was, false},
	} {
		for _, tool := range []string{"Write", "Edit"} {
			t.Run(tool+" "+c.name, func(t *testing.T) {
				b := newBench(t)
				b.file("f", was)
				target, err := b.changer(tool).Look(t.Context(), "f")
				require.NoError(t, err)
				require.Equal(t, events.Target{Path: "f", Digest: digest(was)}, target)
				c.moves(b)
				arguments := map[string]args{"Write": {"path": "f", "content": "new\n"}, "Edit": {"path": "./f", "old": "old", "new": "new"}}[tool]
				_, err = b.change(tool, arguments, target)
				if c.runs {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, agent.ErrStale)
				}
				if c.after == "" {
					require.NoFileExists(t, b.path("f"))
				} else {
					require.Equal(t, c.after, b.content("f"))
				}
				b.unharmed()
			})
		}
	}
}

func TestANewFileIsForANameThatNobodyHas(t *testing.T) {
	for _, c := range []struct {
		name, path string
		moves      func(b *bench)
		runs       bool
	}{
		{"nobody has it", "f", func(*bench) {}, true},
		{"in a folder that is missing", "x/y/f", func(*bench) {}, true},
		{"in a folder that was made meanwhile", "x/y/f", func(b *bench) { b.file("x/y/other", "x") }, true},
		{"made meanwhile", "f", func(b *bench) { b.file("f", "theirs") }, false},
		{"made meanwhile, empty", "f", func(b *bench) { b.file("f", "") }, false},
		{"a link that leads nowhere", "f", func(b *bench) { require.NoError(b.t, os.Symlink("none", b.path("f"))) }, false},
		{"its folder is a file", "x/f", func(b *bench) { b.file("x", "theirs") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			target, err := b.changer("Write").Look(t.Context(), c.path)
			require.NoError(t, err)
			require.Equal(t, events.Target{Path: c.path}, target)
			c.moves(b)
			_, err = b.change("Write", args{"path": c.path, "content": "ours"}, target)
			if c.runs {
				require.NoError(t, err)
				require.Equal(t, "ours", b.content(c.path))
			} else {
				require.ErrorIs(t, err, agent.ErrStale)
			}
			b.unharmed()
		})
	}
}

// A file is changed under the tool's hands, after it was opened and found to be
// the one and while the new one is written: what somebody else wrote is never
// lost.
func TestTheWriteRace(t *testing.T) {
	for _, existed := range []bool{true, false} {
		stales := 0
		for range 20 {
			b := newBench(t)
			target := events.Target{Path: "f"}
			if existed {
				b.file("f", "old\n")
				target.Digest = digest("old\n")
			}
			b.file("theirs", "theirs\n")
			var other sync.WaitGroup
			stop := make(chan struct{})
			other.Go(func() { replaceWhileWritten(b, stop) })
			_, err := b.change("Write", args{"path": "f", "content": strings.Repeat("ours\n", 1<<20)}, target)
			close(stop)
			other.Wait()
			if err != nil {
				require.ErrorIs(t, err, agent.ErrStale)
				stales++
			}
			require.Equal(t, "theirs\n", b.content("f"), "theirs came last, or ours was not written")
			b.unharmed()
		}
		require.Positive(t, stales, "some came in between")
	}
}

// replaceWhileWritten puts another file in the place of the target as soon as
// the tool writes its new one, or when it is told to stop.
func replaceWhileWritten(b *bench, stop <-chan struct{}) {
	for stopped := false; !stopped; {
		select {
		case <-stop:
			stopped = true
		default:
		}
		if writing, _ := filepath.Glob(b.path(".countersign-*")); len(writing) > 0 {
			break
		}
	}
	if err := os.Rename(b.path("theirs"), b.path("f")); err != nil {
		b.t.Error(err)
	}
}

package tools_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/tools"
)

func TestBash(t *testing.T) {
	b := newBench(t)
	b.file("a.txt", "in the workspace\n")
	for name, test := range map[string]struct {
		arguments args
		want      agent.Output
		is        error
		text      string
	}{
		"prints":         {arguments: args{"command": "cat a.txt"}, want: agent.Output{Content: []byte("in the workspace\n")}},
		"prints nothing": {arguments: args{"command": "true"}},
		"both outputs": {
			arguments: args{"command": "echo a; echo b >&2; echo c"},
			want:      agent.Output{Content: []byte("a\nb\nc\n")},
		},
		"bytes":        {arguments: args{"command": `printf 'a\0\377'`}, want: agent.Output{Content: []byte("a\x00\xff")}},
		"has no input": {arguments: args{"command": "cat"}},
		"an option": {
			arguments: args{"command": "-c 'echo no' 2>/dev/null; echo yes"},
			want:      agent.Output{Content: []byte("yes\n")},
		},
		"fails": {
			arguments: args{"command": "echo partly; exit 3"},
			want:      agent.Output{Content: []byte("partly\n")},
			is:        tools.ErrFailed, text: "the command failed: exit status 3\npartly\n",
		},
		"fails without a word": {
			arguments: args{"command": "exit 1"},
			is:        tools.ErrFailed, text: "exit status 1 (it printed nothing)",
		},
		"killed": {arguments: args{"command": "kill -9 $$"}, is: tools.ErrFailed, text: "ended by a signal: killed"},
		"too long": {
			arguments: args{"command": "echo begun; exec sleep 60", "timeout_ms": 300},
			want:      agent.Output{Content: []byte("begun\n"), StoppedBy: "timeout"},
			is:        tools.ErrStopped, text: "it was not done within its time, at most 300ms\nbegun\n",
		},
		"NUL":       {arguments: args{"command": "echo \x00"}, text: "NUL byte"},
		"long text": {arguments: args{"command": "true " + strings.Repeat("x", 1<<17)}, text: "at most 131071"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := b.run("Bash", test.arguments)
			require.Equal(t, string(test.want.Content), string(out.Content))
			require.Equal(t, test.want.StoppedBy, out.StoppedBy)
			if test.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.text)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
		})
	}
}

func TestBashCancelled(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	out, err := b.tools["Bash"].Run(ctx, []byte(`{"command":"echo begun; exec sleep 60"}`))
	require.ErrorIs(t, err, tools.ErrStopped)
	require.ErrorContains(t, err, "the run was cancelled\nbegun\n")
	require.Equal(t, "cancelled", out.StoppedBy)
}

func TestBashLeavesNothingRunning(t *testing.T) {
	b := newBench(t)
	began := time.Now()
	_, err := b.run("Bash", args{"command": `(sleep 2; touch late) >/dev/null 2>&1 & echo done`})
	require.NoError(t, err)
	_, err = b.run("Bash", args{"command": `(sleep 2; touch late) & wait`, "timeout_ms": 200})
	require.ErrorIs(t, err, tools.ErrStopped)
	require.Less(t, time.Since(began), 1900*time.Millisecond)
	require.Never(t, func() bool {
		_, err := os.Stat(b.path("late"))
		return err == nil
	}, 2500*time.Millisecond, 100*time.Millisecond)
}

func TestFloodsAreCut(t *testing.T) {
	b := newBench(t, func(o *tools.Options) { o.MaxResult = 10 })
	out, err := b.run("Bash", args{"command": "head -c 5000000 /dev/zero | tr '\\0' x"})
	require.NoError(t, err)
	require.Equal(t, agent.Output{
		Content: []byte("xxxxxxxxxx"), FullBytes: 5_000_000, Digest: fmt.Sprintf("%x", sha256.Sum256(bytes.Repeat([]byte("x"), 5_000_000))),
	}, out)

	out, err = b.run("Bash", args{"command": "yes"})
	require.ErrorIs(t, err, tools.ErrStopped)
	require.ErrorContains(t, err, "it printed more than 256 MiB\ny\ny\ny\ny\ny\n\n[cut: it printed ")
	require.Equal(t, "output-limit", out.StoppedBy)
	require.Greater(t, out.FullBytes, int64(256<<20))
}

func TestProcessesSeeNoSecrets(t *testing.T) {
	t.Setenv("COUNTERSIGN_X", "secret-one")
	t.Setenv("OPENAI_API_KEY", "secret-two")
	t.Setenv("LANG", "C.UTF-8")
	b := newBench(t, custom(tools.Custom{Name: "Env", Command: []string{"env"}}))
	for tool, arguments := range map[string]string{"Bash": `{"command":"env"}`, "Env": `{}`} {
		out, err := b.run(tool, arguments)
		require.NoError(t, err)
		require.NotContains(t, string(out.Content), "secret")
		require.Contains(t, string(out.Content), "LANG=C.UTF-8")
	}
}

// custom offers a tool besides the built-in ones, by default for any object.
func custom(c tools.Custom) func(*tools.Options) {
	if c.Schema == nil {
		c.Schema = json.RawMessage(`{"type":"object"}`)
	}
	return func(o *tools.Options) { o.Custom = append(o.Custom, c) }
}

func TestCustom(t *testing.T) {
	for name, test := range map[string]struct {
		script, arguments, want string
		stopped                 string
		is                      error
		text                    string
	}{
		"text to the byte":     {script: "cat", arguments: "{ \"n\": 1.10,\n\"é\":12345678901234567890}", want: "{ \"n\": 1.10,\n\"é\":12345678901234567890}"},
		"nothing is an object": {script: "cat", arguments: "", want: "{}"},
		"in the workspace":     {script: "basename $PWD", arguments: "{}", want: "ws\n"},
		"only its output":      {script: "echo note >&2; echo out", arguments: "{}", want: "out\n"},
		"does not read":        {script: "echo ok", arguments: `{"x":"` + strings.Repeat("x", 1<<18) + `"}`, want: "ok\n"},
		"fails": {
			script: "echo out; echo reason >&2; exit 4", arguments: "{}", want: "out\n",
			is: tools.ErrFailed, text: "the command failed: exit status 4\nreason\n",
		},
		"fails on its output": {
			script: "echo reason; exit 4", arguments: "{}", want: "reason\n",
			is: tools.ErrFailed, text: "exit status 4\nreason\n",
		},
		"fails at length": {
			script: "head -c 20000 /dev/zero | tr '\\0' e >&2; exit 1", arguments: "{}",
			is: tools.ErrFailed, text: "e\n[cut: it printed 20000 bytes]",
		},
		"too long": {
			script: "echo begun; exec sleep 60", arguments: "{}", want: "begun\n", stopped: "timeout",
			is: tools.ErrStopped, text: "at most 400ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, custom(tools.Custom{
				Name: "Mine", Command: []string{"sh", "-c", test.script}, Timeout: timeoutFor(test.stopped),
			}))
			out, err := b.run("Mine", test.arguments)
			require.Equal(t, test.want, string(out.Content))
			require.Equal(t, test.stopped, out.StoppedBy)
			if test.is == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, test.is)
			require.ErrorContains(t, err, test.text)
		})
	}
}

// timeoutFor is short where a time-out is wanted.
func timeoutFor(stopped string) time.Duration {
	if stopped == "timeout" {
		return 400 * time.Millisecond
	}
	return 0
}

package exec_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
)

func TestStopped(t *testing.T) {
	for name, test := range map[string]struct {
		script  string
		timeout time.Duration
		limit   int64
		by      string
		signal  string
		prefix  string
	}{
		"sleeps too long": {
			script: `echo begun; exec sleep 60`, timeout: 300 * time.Millisecond,
			by: exec.StoppedByTimeout, signal: "terminated", prefix: "begun\n",
		},
		"ignores SIGTERM": {
			script: `trap '' TERM; echo begun; while :; do sleep 1; done`, timeout: 300 * time.Millisecond,
			by: exec.StoppedByTimeout, signal: "killed", prefix: "begun\n",
		},
		"ends in its own way at SIGTERM": {
			script: `trap 'echo bye; exit 7' TERM; echo begun; sleep 60 & wait`, timeout: 300 * time.Millisecond,
			by: exec.StoppedByTimeout, prefix: "begun\nbye\n",
		},
		"prints for ever until its time is over": {
			script: `yes`, timeout: 300 * time.Millisecond,
			by: exec.StoppedByTimeout, signal: "terminated", prefix: "y\ny\n",
		},
		"prints for ever until its output is too much": {
			script: `exec yes`, timeout: 20 * time.Second, limit: 1 << 20,
			by: exec.StoppedByOutputLimit, signal: "terminated", prefix: "y\ny\n",
		},
		"stopped by a signal": {
			script: `echo begun; kill -STOP $$`, timeout: 300 * time.Millisecond,
			by: exec.StoppedByTimeout, signal: "killed", prefix: "begun\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shell(t, test.script)
			c.Timeout, c.StopOutput, c.MaxOutput = test.timeout, test.limit, 1024
			result := run(t, c)
			require.Equal(t, test.by, result.StoppedBy)
			require.Equal(t, test.signal, result.Signal)
			require.True(t, strings.HasPrefix(string(result.Stdout.Kept), test.prefix), result.Stdout.Kept)
			require.LessOrEqual(t, len(result.Stdout.Kept), 1024)
			require.Less(t, result.Duration, 5*time.Second)
		})
	}
}

// shutdown is a cause with a word of its own.
type shutdown struct{}

func (shutdown) Error() string     { return "the process stops" }
func (shutdown) StoppedBy() string { return exec.StoppedByShutdown }

func TestStoppedByTheCaller(t *testing.T) {
	for by, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		exec.StoppedByTimeout: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 200*time.Millisecond)
		},
		exec.StoppedByCancel: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(200*time.Millisecond, cancel)
			return ctx, cancel
		},
		exec.StoppedByShutdown: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(200*time.Millisecond, func() { cancel(fmt.Errorf("as its caller says: %w", shutdown{})) })
			return ctx, func() { cancel(nil) }
		},
	} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			ctx, release := end(t.Context())
			defer release()
			result, err := exec.Run(ctx, shell(t, `sleep 60`))
			require.NoError(t, err)
			require.Equal(t, by, result.StoppedBy)
			require.Less(t, result.Duration, 5*time.Second)
		})
	}
}

// Each script leaves a process behind that prints its id, and would write the
// file "late" after two seconds.
func TestNothingActsAfterTheEnd(t *testing.T) {
	const late = `sh -c 'echo $$; trap "" TERM HUP; sleep 2; touch late'`
	for name, test := range map[string]struct {
		script  string
		timeout time.Duration
	}{
		"background":                   {script: late + ` & sleep 0.1`},
		"background, output elsewhere": {script: late + ` >pid 2>&1 & sleep 0.1; cat pid`},
		"a group of its own":           {script: `timeout 60 ` + late + ` & sleep 0.2`},
		"deeply nested":                {script: `( ( ` + late + ` & ) & ) & sleep 0.2`},
		"at a time-out":                {script: late + ` & wait`, timeout: 300 * time.Millisecond},
		"own group, at a time-out":     {script: `timeout 60 ` + late + ` & wait`, timeout: 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shell(t, test.script)
			if test.timeout > 0 {
				c.Timeout = test.timeout
			}
			result := run(t, c)
			require.Less(t, result.Duration, 1900*time.Millisecond)
			pid := string(bytes.TrimSpace(result.Stdout.Kept))
			require.Regexp(t, `^\d+$`, pid)
			require.Eventually(t, func() bool { return dead(pid) }, time.Second, 5*time.Millisecond)
			require.NoFileExists(t, filepath.Join(c.Dir, "late"))
		})
	}
}

func TestAHeldPipeDoesNotHoldUs(t *testing.T) {
	// setsid escapes the session and keeps all three pipes open.
	c := shell(t, `setsid sleep 4 & echo done`)
	c.Stdin = bytes.Repeat([]byte("x"), 1<<20)
	result := run(t, c)
	require.Equal(t, "done\n", string(result.Stdout.Kept))
	require.Less(t, result.Duration, 2*time.Second)
}

func TestAForkBombEnds(t *testing.T) {
	// Bounded to depth 6, so that a failure of ours does not take the machine.
	c := shell(t, `f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 30; }; f 6 & wait`)
	c.Timeout = 300 * time.Millisecond
	require.Equal(t, exec.StoppedByTimeout, run(t, c).StoppedBy)
	require.Eventually(t, func() bool { return !anyIn(t, c.Dir) }, 2*time.Second, 20*time.Millisecond)
}

func TestNoDescriptorsAreLeft(t *testing.T) {
	run(t, shell(t, `true`))
	before := descriptors(t)
	for range 20 {
		run(t, shell(t, `echo x; echo y >&2`))
		_, err := exec.Run(t.Context(), exec.Command{Argv: []string{"/nonesuch"}, Dir: t.TempDir(), Stdin: []byte("x")})
		require.ErrorIs(t, err, exec.ErrNotStarted)
	}
	require.LessOrEqual(t, descriptors(t), before+2, "other tests of this package do not run beside this one")
}

func BenchmarkRun(b *testing.B) {
	c := exec.Command{Argv: []string{"/bin/true"}, Dir: b.TempDir(), Timeout: time.Minute}
	for b.Loop() {
		_, err := exec.Run(b.Context(), c)
		require.NoError(b, err)
	}
}

// BenchmarkForkExec is the limit that BenchmarkRun is held against.
func BenchmarkForkExec(b *testing.B) {
	for b.Loop() {
		p, err := os.StartProcess("/bin/true", []string{"/bin/true"}, &os.ProcAttr{Env: []string{}})
		require.NoError(b, err)
		_, err = p.Wait()
		require.NoError(b, err)
	}
}

// dead says whether a process is gone, or a zombie that nobody buried yet.
func dead(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// anyIn says whether a living process works in the directory.
func anyIn(t *testing.T, dir string) bool {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	require.NoError(t, err)
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && at == dir {
			return true
		}
	}
	return false
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(names)
}

package exec_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
)

// Commands that take what they can get. The sandbox allows 128 MiB, 64 tasks,
// files of 8 MiB, 64 open files and 16 MiB of temporary files.
func TestLimitsOfASandbox(t *testing.T) {
	w := newWorld(t)
	s := w.sandbox(t, func(c *isolate.Config) { c.Memory = 128 << 20 })
	for name, test := range map[string]struct {
		script    string
		timeout   time.Duration
		stop      int64
		stoppedBy string
		stdout    string // a pattern
	}{
		"a fork bomb": {
			script: `f() { while :; do f & done; }; f 2>/dev/null`, stoppedBy: exec.StoppedByProcesses,
		},
		"processes that sleep": {
			script: `i=0; while [ $i -lt 200 ]; do sleep 30 & i=$((i+1)); done; wait`, stoppedBy: exec.StoppedByProcesses,
		},
		"memory of one": {
			script: `x=$(head -c 200000000 /dev/zero | tr '\0' x); echo ${#x}`, stoppedBy: exec.StoppedByMemory,
		},
		"memory of many": {
			script: `for i in 1 2 3 4 5 6 7 8; do (x=$(head -c 30000000 /dev/zero | tr '\0' x); sleep 5) & done; wait`, stoppedBy: exec.StoppedByMemory,
		},
		"temporary files": {
			script: `for d in /tmp /var/tmp /dev/shm; do for i in 1 2 3; do head -c 8000000 /dev/zero >$d/$i 2>/dev/null || echo full; done; done; du -smx /tmp | cut -f1`,
			stdout: `^(full\n){5}1[0-6]\n$`,
		},
		"many temporary files": {
			script: `cd /tmp && seq 110000 | xargs touch 2>/dev/null; ls | wc -l`, stdout: `^9\d{4}\n$`,
		},
		"a large file": {
			script: `head -c 9000000 /dev/zero >big; echo $?; wc -c <big; rm big`, stdout: `^(153|1)\n8388608\n$`,
		},
		"open files": {
			script: `i=10; while [ $i -lt 100 ]; do eval "exec $i</dev/null" 2>/dev/null || break; i=$((i+1)); done; echo $i`, stdout: `^\d\d\n$|^$`,
		},
		"output without end": {script: `yes`, stop: 1 << 20, stoppedBy: exec.StoppedByOutputLimit},
		"no end and no output": {
			script: `trap '' TERM INT HUP; while :; do sleep 1; done`, timeout: 200 * time.Millisecond, stoppedBy: exec.StoppedByTimeout,
		},
		"ends in its own way": {
			script: `trap 'echo bye; exit 7' TERM; sleep 30 & wait`, timeout: 200 * time.Millisecond, stoppedBy: exec.StoppedByTimeout, stdout: "^bye\n$",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.shell(test.script, s)
			c.StopOutput = test.stop
			if test.timeout > 0 {
				c.Timeout = test.timeout
			}
			result := run(t, c)
			if name != "a fork bomb" || result.StoppedBy != "" { // the kernel may have ended it before we counted
				require.Equal(t, test.stoppedBy, result.StoppedBy, "%s%s", result.Stdout.Kept, result.Stderr.Kept)
			}
			if test.stdout != "" {
				require.Regexp(t, test.stdout, string(result.Stdout.Kept))
			}
			require.Less(t, result.Duration, 9*time.Second)
			require.False(t, anyIn(t, w.Workspace), "nothing lives on")
		})
	}
}

// What a command leaves running ends with it, and is counted.
func TestNothingOutlivesACommand(t *testing.T) {
	const late = `sh -c 'trap "" TERM HUP INT; sleep 1; touch late; sleep 30'`
	w := newWorld(t)
	s := w.sandbox(t)
	for name, test := range map[string]struct {
		script string
		left   int
		stdout string
	}{
		"nothing left":              {script: `sleep 0.01 & wait; echo x`, stdout: "x\n"},
		"in the background":         {script: late + ` &`, left: 2},
		"its own session":           {script: `setsid ` + late + ` >/dev/null 2>&1 &`, left: 2},
		"a daemon that holds pipes": {script: `setsid -f ` + late, left: 2},
		"a daemon of a daemon":      {script: `setsid -f setsid -f ` + late + `; sleep 0.2`, left: 2},
		"a last word":               {script: `(sleep 0.05; echo late) & echo now`, left: 2, stdout: "now\nlate\n"},
	} {
		t.Run(name, func(t *testing.T) {
			result := run(t, w.shell(test.script, s))
			require.Empty(t, result.StoppedBy)
			require.Zero(t, result.ExitCode)
			require.Equal(t, test.stdout, string(result.Stdout.Kept))
			require.LessOrEqual(t, result.Left, test.left)
			require.Equal(t, test.left > 0, result.Left > 0, "left: %d", result.Left)
			require.Less(t, result.Duration, 900*time.Millisecond)
			require.False(t, anyIn(t, w.Workspace))
		})
	}
	require.NoFileExists(t, filepath.Join(w.Workspace, "late"))
}

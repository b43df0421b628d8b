package exec_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Whoever kills the init that waits for the next command makes that slower,
// and nothing else.
func TestAnInitThatIsKilledWhileItWaits(t *testing.T) {
	w := newWorld(t)
	s := w.sandbox(t)
	for range 3 {
		require.Equal(t, "x\n", string(run(t, w.shell("echo x", s)).Stdout.Kept))
		var waiting []int
		require.Eventually(t, func() bool { waiting = inits(t); return len(waiting) == 1 }, 5*time.Second, 5*time.Millisecond)
		require.NoError(t, unix.Kill(waiting[0], unix.SIGKILL))
		require.Eventually(t, func() bool { return unix.Kill(waiting[0], 0) != nil }, 5*time.Second, 5*time.Millisecond)
	}
	s.Close()
	require.Equal(t, "x\n", string(run(t, w.shell("echo x", s)).Stdout.Kept), "it works still")
	require.Empty(t, inits(t), "and keeps nothing")
}

// inits are our children that are sandboxes' inits and live.
func inits(t *testing.T) []int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	var found []int
	for _, task := range tasks {
		text, _ := os.ReadFile(task) // a thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			line, _ := os.ReadFile("/proc/" + field + "/cmdline") // a zombie has none
			if pid, err := strconv.Atoi(field); err == nil && strings.HasPrefix(string(line), "agentd: isolate") {
				found = append(found, pid)
			}
		}
	}
	return found
}

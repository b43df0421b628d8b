//go:build amd64 || arm64

package isolate

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// initTasks is what init itself needs above what the command may have, since
// both are one user's.
const initTasks = 64

// limit sets what the kernel bounds for each process; what the processes of a
// command have together is for the watcher.
func limit(c Config) error {
	// Should memory run out, a tool goes before agentd. Who cannot say so has
	// the watcher still.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("500"), 0)
	for _, l := range []struct {
		of    int
		value uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, uint64(c.FileSize)},          //nolint:gosec // not negative
		{unix.RLIMIT_NPROC, uint64(c.Tasks + initTasks)}, //nolint:gosec // not negative
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_MEMLOCK, 8 << 20},
	} {
		if err := lower(l.of, l.value); err != nil {
			return err
		}
	}
	// syscall's own, or it gives the command the limit that init began with.
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		return err
	}
	files := min(uint64(c.OpenFiles), old.Max) //nolint:gosec // not negative
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: files, Max: files})
}

// limitMemory bounds what each process of the command can get between two looks
// of the watcher: twice of what all may have, so that as a rule the watcher
// says why it ended. Init itself needs more than a small bound, so it is set
// once the command is there. What the command starts before that, and what
// ends before that, has the watcher's bound alone.
func limitMemory(pid int, most int64) {
	twice := 2 * uint64(most)                                                          //nolint:gosec // not negative
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: twice, Max: twice}, nil) // see above
}

// lower sets a limit that may be lower already.
func lower(of int, value uint64) error {
	var old unix.Rlimit
	if err := unix.Getrlimit(of, &old); err != nil {
		return err
	}
	value = min(value, old.Max)
	return unix.Setrlimit(of, &unix.Rlimit{Cur: value, Max: value})
}

// minPidMax is the least that the kernel takes.
const minPidMax = 301

// boundTasks bounds the tasks in this PID namespace on kernels that can (6.14).
// RLIMIT_NPROC does not count root's.
func boundTasks(tasks int) {
	most := max(2*tasks, minPidMax)
	_ = os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.Itoa(most)), 0) // others have RLIMIT_NPROC and the watcher
}

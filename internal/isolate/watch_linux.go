//go:build amd64 || arm64

package isolate

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watchEvery is how often a command's memory and tasks are counted.
const watchEvery = 25 * time.Millisecond

// watcher sees a command to its end. Only init's main goroutine uses it.
type watcher struct {
	config  Config
	command int // its process id
	signals <-chan os.Signal
	gone    <-chan struct{} // closed when agentd is
	page    int64
	stopped string // the limit that was broken
}

// listenSignals makes init deaf to what is meant for the command: agentd stops
// it with SIGTERM and kills it with SIGINT.
func listenSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGQUIT)
	return signals
}

// watch returns how the command ended, with everything else ended too.
func (w *watcher) watch() *End {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		if end := w.reap(); end != nil {
			return end
		}
		select {
		case <-w.gone:
			os.Exit(1) // and the kernel kills whatever is in the namespace
		case <-ticker.C:
			w.judge()
		case s := <-w.signals:
			switch s {
			case syscall.SIGTERM:
				_ = unix.Kill(-1, unix.SIGTERM)
			case syscall.SIGINT:
				_ = unix.Kill(-1, unix.SIGKILL)
			}
		}
	}
}

// linger keeps what the command left alive, for its last words, until agentd
// kills init.
func (w *watcher) linger() {
	for {
		w.reap()
		select {
		case <-w.gone:
			return
		case s := <-w.signals:
			if s == syscall.SIGINT {
				return
			}
		}
	}
}

// reap buries who died; for the command it says how.
func (w *watcher) reap() *End {
	var end *End
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		if pid == w.command {
			end = &End{ExitCode: status.ExitStatus(), Stopped: w.stopped}
			if status.Signaled() {
				end.ExitCode, end.Signal = -1, int(status.Signal())
			}
		}
	}
	if end != nil {
		end.Left = w.count().processes
	}
	return end
}

// judge kills all when they have too much. To be killed at the next tick is
// soon enough: the kernel's own limits bound what they can take until then.
func (w *watcher) judge() {
	used := w.count()
	switch {
	case used.tasks > w.config.Tasks:
		w.stopped = StoppedByTasks
	case used.memory > w.config.Memory && w.proportional() > w.config.Memory:
		w.stopped = StoppedByMemory
	default:
		return
	}
	_ = unix.Kill(-1, unix.SIGKILL)
}

// usage is what the command's processes have together.
type usage struct {
	processes, tasks int
	memory           int64 // resident bytes; what is shared counts for each
}

func (w *watcher) count() usage {
	var u usage
	for _, pid := range others() {
		stat, err := os.ReadFile("/proc/" + pid + "/stat") //nolint:gosec // a number
		if err != nil {
			continue // it is gone
		}
		// After the name, which may hold anything: state is field 3 of proc_pid_stat(5).
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 22 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
			continue
		}
		u.processes++
		u.tasks += int(number(fields[17]))
		u.memory += number(fields[21]) * w.page
	}
	return u
}

// proportional counts what is shared once, and nothing that is a copy of a
// file. It is slower. A process that cannot be looked into counts as it is.
func (w *watcher) proportional() int64 {
	var total int64
	for _, pid := range others() {
		rollup, err := os.ReadFile("/proc/" + pid + "/smaps_rollup") //nolint:gosec // a number
		if err != nil {
			resident, _ := os.ReadFile("/proc/" + pid + "/statm") //nolint:gosec // a number; gone: none
			if fields := bytes.Fields(resident); len(fields) > 1 {
				total += number(fields[1]) * w.page
			}
			continue
		}
		total += rolledUp(rollup)
	}
	return total
}

// rolledUp adds up what smaps_rollup says in kB.
func rolledUp(rollup []byte) (total int64) {
	for line := range bytes.Lines(rollup) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if s := string(name); s == "Pss_Anon" || s == "Pss_Shmem" {
			total += number(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB"))) << 10
		}
	}
	return total
}

// others are the processes in the namespace but init.
func others() []string {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1) // a part of the list is better than none
	var pids []string
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != 1 {
			pids = append(pids, name)
		}
	}
	return pids
}

// number is a number of the kernel's, or 0.
func number(text []byte) int64 {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

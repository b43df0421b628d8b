package bench

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTime is what this process has used, user and system.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// load is the machine's load average, or "unknown".
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// resident is what a process holds in memory, in MB (10^6 bytes).
func resident(pid int) (float64, error) { return memoryOf(strconv.Itoa(pid), "VmRSS") }

// peakSince is the most that this process held in memory since it was asked
// last, in MB; 0 where the system does not tell.
func peakSince() float64 {
	most, err := memoryOf("self", "VmHWM")
	if err != nil || os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) != nil {
		return 0
	}
	return most
}

// memoryOf reads a line of a process's status, in MB.
func memoryOf(process, line string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%s/status", process))
	if err != nil {
		return 0, fmt.Errorf("memory is read from /proc: %w", err)
	}
	for l := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(l, line+": %f kB", &kib); n == 1 {
			return kib * 1024 / 1e6, nil
		}
	}
	return 0, fmt.Errorf("/proc/%s/status does not tell %s", process, line)
}

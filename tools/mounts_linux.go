package tools

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// readMounts reads what is mounted where, in the order of mounting.
func readMounts() (mounts, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("which file systems are mounted where: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	return parseMounts(f)
}

// parseMounts reads proc_pid_mountinfo(5): "36 35 98:0 /root /at options ...".
func parseMounts(r io.Reader) (all mounts, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			return nil, fmt.Errorf("which file systems are mounted where: the line %.80q is not understood", lines.Text())
		}
		all = append(all, mount{device: fields[2], root: unescaped(fields[3]), at: unescaped(fields[4])})
	}
	return all, lines.Err()
}

// unescaped reads \040 and its like, as which white space and backslashes are
// written.
func unescaped(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

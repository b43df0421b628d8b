//go:build amd64 || arm64

package isolate

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mounted is a line of mountinfo: part of a device's file system, at a point.
type mounted struct{ device, root, point string }

// aliases returns the paths and all others that show the same files, because
// the file system that holds them is mounted elsewhere too.
func aliases(paths []string) ([]string, error) {
	all, err := mounts()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range paths {
		found = append(found, aliasesOf(path, all)...)
	}
	return outermost(found), nil
}

func aliasesOf(path string, all []mounted) []string {
	found := []string{path}
	home := holder(path, all)
	inside := filepath.Join(home.root, strings.TrimPrefix(path, strings.TrimSuffix(home.point, "/")))
	for _, m := range all {
		switch {
		case m.device != home.device:
		case within(inside, m.root):
			found = append(found, filepath.Join(m.point, strings.TrimPrefix(inside, strings.TrimSuffix(m.root, "/"))))
		case within(m.root, inside):
			found = append(found, m.point) // a part of what is hidden
		}
	}
	return found
}

// holder is the mount that a path lies in: the innermost, and of several at one
// point the last.
func holder(path string, all []mounted) (held mounted) {
	for _, m := range all {
		if within(path, m.point) && len(m.point) >= len(held.point) {
			held = m
		}
	}
	return held
}

// mounts reads what is mounted here (proc_pid_mountinfo(5)).
func mounts() ([]mounted, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("find what is mounted: %w", err)
	}
	defer func() { _ = f.Close() }()
	var all []mounted
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 {
			return nil, fmt.Errorf("find what is mounted: a line of mountinfo is %q", lines.Text())
		}
		all = append(all, mounted{fields[2], unescape(fields[3]), unescape(fields[4])})
	}
	return all, lines.Err()
}

func unescape(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

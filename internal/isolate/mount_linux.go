//go:build amd64 || arm64

package isolate

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The attributes of mounts.
const (
	readOnly = unix.MOUNT_ATTR_RDONLY
	plain    = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	device   = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
)

// tree is a mount that hangs nowhere yet, and the path that it belongs at.
type tree struct {
	fd     int
	path   string
	folder bool
}

// mountAll makes the file system that the command sees, in the namespace's own
// copy of ours. What is kept is cloned first, all is made read-only, then the
// new parts go over the old ones, and what hides goes last.
func mountAll(c Config) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("cut off from the machine's mounts: %w", err)
	}
	hidden, err := aliases(c.Hidden)
	if err != nil {
		return err
	}
	kept, err := keep(c)
	if err != nil {
		return err
	}
	devices, err := cloneAll(deviceFiles(), device)
	if err != nil {
		return err
	}
	if err := set(unix.AT_FDCWD, "/", plain|readOnly); err != nil {
		return fmt.Errorf("make / read-only: %w", err)
	}
	s, err := newScratch(c)
	if err != nil {
		return err
	}
	for _, do := range []func() error{
		s.mountProc,
		func() error { return s.mountDev(devices) },
		func() error { return s.cover(voidPart, "/sys/kernel", "/sys/firmware", "/sys/fs") },
		func() error { return s.mountTemp(kept) },
		func() error { return s.hide(hidden) },
		s.close,
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

func deviceFiles() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
}

// keep clones what stays as it is: read-only or to be changed.
func keep(c Config) ([]tree, error) {
	readable, err := cloneAll(append(usefulInRun(), c.Readable...), plain|readOnly)
	if err != nil {
		return nil, err
	}
	writable, err := cloneAll(c.Writable, plain)
	return append(readable, writable...), err
}

// usefulInRun is what programs need of /run, where it is: who resolves names,
// and the programs themselves on NixOS.
func usefulInRun() []string {
	var all []string
	for _, path := range []string{"/etc/resolv.conf", "/run/current-system/sw"} {
		if path, err := filepath.EvalSymlinks(path); err == nil && within(path, "/run") {
			all = append(all, path)
		}
	}
	return all
}

// clone takes a mount of a path out of the machine's.
func clone(dir int, path string, attributes uint64) (tree, error) {
	fd, err := unix.OpenTree(dir, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return tree{}, fmt.Errorf("take %s: %w", path, err)
	}
	if err := set(fd, "", attributes); err != nil {
		return tree{}, fmt.Errorf("set the attributes of %s: %w", path, err)
	}
	var is unix.Stat_t
	err = unix.Fstat(fd, &is)
	return tree{fd, path, is.Mode&unix.S_IFMT == unix.S_IFDIR}, err
}

func cloneAll(paths []string, attributes uint64) ([]tree, error) {
	var all []tree
	for _, path := range paths {
		t, err := clone(unix.AT_FDCWD, path, attributes)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// set adds attributes to a mount and to those below it.
func set(fd int, path string, attributes uint64) error {
	return unix.MountSetattr(fd, path, unix.AT_RECURSIVE|unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: attributes})
}

// put hangs the tree over a path.
func (t tree) put(path string) error {
	if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount over %s: %w", path, err)
	}
	return unix.Close(t.fd)
}

// makePoint makes the folder or file that a tree can be put over.
func makePoint(path string, folder bool) error {
	if folder {
		return os.MkdirAll(path, 0o755) //nolint:gosec // in the sandbox's own memory
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as above
		return err
	}
	return os.WriteFile(path, nil, 0o444) //nolint:gosec // as above
}

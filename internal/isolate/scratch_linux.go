//go:build amd64 || arm64

package isolate

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// scratchAt is where the memory is mounted whose parts go over other folders,
// until its own part covers it.
const scratchAt = "/tmp"

// The parts of the scratch memory.
const (
	tempPart  = "temp"  // /tmp and /var/tmp
	shmPart   = "shm"   // /dev/shm
	runPart   = "run"   // /run, with what is useful in it
	voidPart  = "void"  // an empty folder
	darkPart  = "dark"  // an empty folder that cannot be opened
	blankPart = "blank" // an empty file that cannot be opened
)

// maxNames bounds the files in the scratch memory.
const maxNames = 100_000

// scratch is one file system in memory, so that all that a command may fill
// outside of its workspace has one bound.
type scratch struct {
	fd    int
	tasks int // see boundTasks
}

func newScratch(c Config) (scratch, error) {
	options := fmt.Sprintf("mode=0755,nr_inodes=%d,size=%d", maxNames, c.Temp)
	if err := unix.Mount("tmpfs", scratchAt, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return scratch{}, fmt.Errorf("mount memory over %s: %w", scratchAt, err)
	}
	fd, err := unix.Open(scratchAt, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return scratch{}, err
	}
	defer unix.Umask(unix.Umask(0))
	for _, part := range []struct {
		name string
		mode uint32
	}{{tempPart, 0o1777}, {shmPart, 0o1777}, {runPart, 0o755}, {voidPart, 0o555}, {darkPart, 0}} {
		if err := unix.Mkdirat(fd, part.name, part.mode); err != nil {
			return scratch{}, err
		}
	}
	return scratch{fd, c.Tasks}, unix.Mknodat(fd, blankPart, unix.S_IFREG, 0)
}

func (s scratch) close() error { return unix.Close(s.fd) }

// cover puts a part that cannot be changed over those paths that there are.
func (s scratch) cover(part string, paths ...string) error {
	for _, path := range paths {
		if err := s.put(part, path, plain|readOnly); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

func (s scratch) put(part, path string, attributes uint64) error {
	t, err := clone(s.fd, part, attributes)
	if err != nil {
		return err
	}
	return t.put(path)
}

// mountProc shows the command's own processes, and takes from the rest what
// tells of the machine's keys and memory. It is read-only: where agentd is root
// the kernel's settings belong to the command's user.
func (s scratch) mountProc() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	boundTasks(s.tasks)
	if err := set(unix.AT_FDCWD, "/proc", plain|readOnly); err != nil {
		return fmt.Errorf("make /proc read-only: %w", err)
	}
	return s.cover(blankPart, "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/sysrq-trigger")
}

// mountDev makes a /dev of harmless devices.
func (s scratch) mountDev(devices []tree) error {
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return fmt.Errorf("mount /dev: %w", err)
	}
	for _, d := range devices {
		if err := errors.Join(makePoint(d.path, false), d.put(d.path)); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir("/dev/pts", 0o755), os.Mkdir("/dev/shm", 0o755)); err != nil { //nolint:gosec // of the sandbox
		return err
	}
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("mount /dev/pts: %w", err)
	}
	attributes := &unix.MountAttr{Attr_set: readOnly} // of this mount alone
	if err := unix.MountSetattr(unix.AT_FDCWD, "/dev", 0, attributes); err != nil {
		return fmt.Errorf("make /dev read-only: %w", err)
	}
	return s.put(shmPart, "/dev/shm", plain)
}

// renewed are the folders that the command gets anew, and their parts.
func renewed() []struct{ folder, part string } {
	return []struct{ folder, part string }{{"/var/tmp", tempPart}, {"/run", runPart}, {"/var/run", runPart}, {"/dev/shm", shmPart}, {"/tmp", tempPart}}
}

// mountTemp renews /tmp, /var/tmp and /run, and puts back what is kept of them
// and the folders that may be changed.
func (s scratch) mountTemp(kept []tree) error {
	for _, t := range kept {
		if err := s.point(t); err != nil {
			return err
		}
	}
	if err := s.cover(runPart, "/run"); err != nil {
		return err
	}
	if to, err := os.Readlink("/var/run"); err != nil || to == "" { // as a rule it is a link to /run
		if err := s.cover(runPart, "/var/run"); err != nil {
			return err
		}
	}
	for _, folder := range []string{"/var/tmp", "/tmp"} {
		if err := s.put(tempPart, folder, plain); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	for _, t := range kept {
		if err := t.put(t.path); err != nil {
			return err
		}
	}
	return nil
}

// point makes what a kept tree is put over, where the renewed folders lack it.
func (s scratch) point(t tree) error {
	for _, r := range renewed() {
		if rest, found := strings.CutPrefix(t.path, r.folder+"/"); found {
			return makePoint("/proc/self/fd/"+strconv.Itoa(s.fd)+"/"+r.part+"/"+rest, t.folder)
		}
	}
	return nil
}

// hide covers folders and files with what cannot be opened.
func (s scratch) hide(paths []string) error {
	for _, path := range paths {
		part := blankPart
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			part = darkPart
		}
		if err := s.put(part, path, plain|readOnly); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

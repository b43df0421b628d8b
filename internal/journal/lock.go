package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockPatience is how long a directory that is in use is asked for. A process
// that was killed just as it started a command leaves its lock with that command
// for the moment until the command's program runs.
const lockPatience = 500 * time.Millisecond

// lockFile is the file in the data directory that its owner holds a lock on.
const lockFile = "lock"

// DirLock is the exclusive use of a data directory. It ends with Close or with
// the process, whichever comes first.
type DirLock struct{ f *os.File }

// Lock takes a directory for this process alone. If another has it, the error
// is ErrLocked and names the other where that is known.
func Lock(dir string) (*DirLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator's own directory
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	l := &DirLock{f: f}
	err = l.take()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(fmt.Errorf("%s: %w%s; stop it first, or give this one another --data-dir", dir, ErrLocked, l.owner()), f.Close())
	}
	if err == nil {
		err = l.sign()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the data directory %s: %w", dir, err), f.Close())
	}
	return l, nil
}

// take asks for the lock until it has it or patience ends.
func (l *DirLock) take() error {
	for late := time.After(lockPatience); ; {
		err := unix.Flock(int(l.f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-late:
			return err
		case <-time.After(lockPatience / 50):
		}
	}
}

// owner names who wrote the file.
func (l *DirLock) owner() string {
	b, err := io.ReadAll(io.LimitReader(l.f, 32))
	pid, convErr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || convErr != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}

func (l *DirLock) sign() error {
	text := []byte(strconv.Itoa(os.Getpid()) + "\n")
	if _, err := l.f.WriteAt(text, 0); err != nil { // before Truncate: on a full disk the block there is, is enough
		return err
	}
	return l.f.Truncate(int64(len(text)))
}

// Close gives the directory back. The file stays: removing it would let two
// processes lock two files of one name.
func (l *DirLock) Close() error { return l.f.Close() }

package tools

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/countersign-dev/countersign/agent"
)

// A file is replaced by a complete new one, in one step of the file system. Two
// things can come between: somebody puts another file in its place, or writes
// into the old one. So where the old content is known, the new file and the old
// change places (renameat2), the old one is looked at again where nobody finds
// it any more, and if it is not the one that was approved both change back.
// What is written into the old file after that look is lost, as with any editor.
//
// Where the file system cannot do that (NFS, some FUSE), the look comes just
// before the rename, and what is changed in between, some microseconds, is lost.

// errUnsupported: the file system cannot rename in that way.
var errUnsupported = errors.New("not supported by the file system")

// replace puts a complete new file in the place of the old. A crash before the
// rename leaves the old file whole, and perhaps a hidden file beside it.
func (t *target) replace(content []byte) error {
	fresh := ".countersign-" + rand.Text()
	f, err := t.write(fresh, content)
	kept := false
	if err == nil {
		kept, err = t.put(fresh, f)
	}
	if f != nil {
		_ = f.Close() // it was synced; until here nobody else's file can have its inode
	}
	if err != nil {
		if !kept {
			err = errors.Join(err, t.forget(fresh))
		}
		return told(t.shown, err)
	}
	return t.syncFolder()
}

// forget removes a file that was ours alone.
func (t *target) forget(fresh string) error {
	if err := t.folder.Remove(fresh); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write makes a new file with the owner and the mode of the old. It is synced,
// and stays open.
func (t *target) write(fresh string, content []byte) (*os.File, error) {
	f, err := t.folder.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(content)
	return f, errors.Join(err, t.keepOwnerAndMode(f), f.Sync())
}

// put gives the fresh file the target's name. kept: under the fresh name is now
// what somebody else made, which must not be removed.
func (t *target) put(fresh string, mine *os.File) (kept bool, err error) {
	switch {
	case t.old == nil && t.bound:
		err = renameNew(t.folder, fresh, t.name)
	case t.digest != "":
		kept, err = t.exchange(fresh, mine)
	default:
		return false, t.folder.Rename(fresh, t.name) // nobody was told what is there
	}
	if errors.Is(err, errUnsupported) {
		return false, t.putUnguarded(fresh)
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		err = agent.ErrStale
	}
	return kept, err
}

// exchange makes the two files change places, and back if the old one is not
// what it was.
func (t *target) exchange(fresh string, mine *os.File) (kept bool, err error) {
	if err := exchange(t.folder, fresh, t.name); err != nil {
		return false, err
	}
	if was, err := t.folder.Lstat(fresh); err == nil && os.SameFile(was, t.old) && t.holds() {
		_ = t.forget(fresh) // what is written is written
		return false, nil
	}
	placed, err := mine.Stat()
	if err == nil && t.giveBack(fresh, placed) {
		return false, agent.ErrStale
	}
	return true, fmt.Errorf("%w: somebody else changes it at the same time; it may be the new one, and what was there may be called %s now", ErrRefused, fresh)
}

// giveBack puts what somebody else made back in its place, where placed was put
// instead. Whoever replaced that meanwhile made what is newest: then that is put
// back, and what it replaced can go.
func (t *target) giveBack(fresh string, placed fs.FileInfo) (done bool) {
	for range 100 {
		theirs, err := t.folder.Lstat(fresh)
		if err != nil {
			return false
		}
		err = exchange(t.folder, fresh, t.name)
		if errors.Is(err, fs.ErrNotExist) { // it was moved away, or removed
			if err = renameNew(t.folder, fresh, t.name); err == nil {
				return true
			} else if errors.Is(err, fs.ErrExist) {
				continue
			}
		}
		back, err2 := t.folder.Lstat(fresh)
		switch {
		case err != nil || err2 != nil:
			return false
		case os.SameFile(back, placed):
			return true
		}
		placed = theirs
	}
	return false
}

// putUnguarded looks once more and renames, where the file system can do no
// better.
func (t *target) putUnguarded(fresh string) error {
	now, err := t.folder.Lstat(t.name)
	switch {
	case t.old == nil && !errors.Is(err, fs.ErrNotExist):
		return errors.Join(agent.ErrStale, err)
	case t.old != nil && (err != nil || !os.SameFile(now, t.old) || !t.holds()):
		return agent.ErrStale
	}
	return t.folder.Rename(fresh, t.name)
}

func (t *target) keepOwnerAndMode(f *os.File) error {
	if t.old == nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok := t.old.Sys().(*syscall.Stat_t)
	is, ok2 := info.Sys().(*syscall.Stat_t)
	if ok && ok2 && (was.Uid != is.Uid || was.Gid != is.Gid) {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return fmt.Errorf("%w: the file's owner cannot be kept: %w", ErrRefused, err)
		}
	}
	return f.Chmod(t.old.Mode().Perm())
}

// syncFolder makes the rename last. What cannot be synced is written all the
// same, so that is no error of the write.
func (t *target) syncFolder() error {
	dir, err := t.folder.Open(".")
	if err != nil {
		return told(t.shown, err)
	}
	_ = dir.Sync() // not every file system can
	return dir.Close()
}

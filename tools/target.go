package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

// maxTarget is the largest file that a call may change whose target was
// approved: all of it is read to know that it is the one.
const maxTarget = 64 << 20

// target is a file about to be changed: a name in a folder that is held open,
// so that whoever moves or relinks the folders above it changes nothing.
type target struct {
	folder *os.Root
	name   string
	path   string        // relative to the workspace, clean: how records name it
	shown  string        // the model's name of it
	old    fs.FileInfo   // what is there now, or nil
	file   *os.File      // that, open; nil until it is read
	digest events.Digest // of what was read; "" where nothing was
	bound  bool          // it must still be as it was found when it is replaced
}

// target finds a file to change and refuses what must not be changed. The folder
// of a target that is not there may be missing too (fs.ErrNotExist), unless
// makeFolders has it made.
func (w *workspace) target(path string, makeFolders bool) (*target, error) {
	name, err := w.local(path)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(name)
	if base == "" || base == "." || base == ".." {
		return nil, fmt.Errorf("%q is %w: it names a directory", path, ErrNotRegular)
	}
	folder, err := w.folder(filepath.Clean(dir), makeFolders)
	if err != nil {
		return nil, told(path, err)
	}
	t := &target{folder: folder, name: base, path: filepath.Join(dir, base), shown: path}
	if err := t.look(); err != nil {
		t.close()
		return nil, told(path, err)
	}
	return t, nil
}

// folder opens a folder of the workspace, one name after the other. A link is not
// followed, here as little as at the end of the path: the reviewer approved these
// names, not what they stand for.
func (w *workspace) folder(dir string, makeFolders bool) (*os.Root, error) {
	at, err := w.root.OpenRoot(".")
	for name := range strings.SplitSeq(dir, string(filepath.Separator)) {
		if err != nil {
			return nil, err
		}
		var next *os.Root
		next, err = enter(at, name, makeFolders)
		_ = at.Close() // only a handle
		at = next
	}
	return at, err
}

func enter(at *os.Root, name string, makes bool) (*os.Root, error) {
	info, err := at.Lstat(name)
	if makes && errors.Is(err, fs.ErrNotExist) {
		if err := at.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = at.Lstat(name)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode().IsRegular():
		return nil, fmt.Errorf("%q: %w", name, syscall.ENOTDIR)
	case !info.IsDir():
		return nil, fmt.Errorf("%w: the folder %q on the way is a %s, which is not followed", ErrRefused, name, kindOf(info.Mode()))
	}
	folder, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if found, err := folder.Stat("."); err != nil || !os.SameFile(found, info) {
		return nil, errors.Join(fmt.Errorf("%w: the folder %q was replaced meanwhile", ErrRefused, name), err, folder.Close())
	}
	return folder, nil
}

// look finds out what has the name now. A link is not followed: the reviewer
// approved this name, not what it stands for.
func (t *target) look() error {
	info, err := t.folder.Lstat(t.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.old = info
	return checkChangeable(info)
}

func checkChangeable(info fs.FileInfo) error {
	switch err := checkReadable(info); {
	case err != nil:
		return err
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("%w: the file is read-only (mode %04o)", ErrRefused, info.Mode().Perm())
	case info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return fmt.Errorf("%w: the file runs as another user (%s)", ErrRefused, info.Mode())
	}
	return nil
}

// read returns the content of the file that look saw, not of one that took its
// name since, and keeps it open; nil where there is none.
func (t *target) read(most int64) ([]byte, error) {
	if t.old == nil {
		return nil, nil
	}
	f, info, err := openRegular(t.folder, t.name, t.shown)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, t.moved()
	case err != nil:
		return nil, err
	}
	t.file = f
	if !os.SameFile(info, t.old) {
		return nil, t.moved()
	}
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, told(t.shown, err)
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("%q is %w: it has %d bytes, at most %d can be worked with", t.shown, ErrTooLarge, info.Size(), most)
	}
	t.digest = events.DigestOf(content)
	return content, nil
}

// moved is what is said of a file that somebody else changed under the tool's
// hands.
func (t *target) moved() error { return fmt.Errorf("%q: %w", t.shown, agent.ErrStale) }

// holds reports whether the open file still has the content that was read.
func (t *target) holds() bool {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(t.file, 0, maxTarget+1))
	return err == nil && n <= maxTarget && hex.EncodeToString(h.Sum(nil)) == string(t.digest)
}

// now is the target as records name it. Its content was read.
func (t *target) now() events.Target { return events.Target{Path: t.path, Digest: t.digest} }

func (t *target) close() {
	if t.file != nil {
		_ = t.file.Close() // only read
	}
	_ = t.folder.Close() // only a handle
}

// Look returns a file of the workspace as a target.
func (w *workspace) look(path string) (events.Target, error) {
	t, err := w.target(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return events.Target{Path: path}, nil
	}
	if err != nil {
		return events.Target{}, err
	}
	defer t.close()
	_, err = t.read(maxTarget)
	return t.now(), err
}

// shownSize says how long a content is, and which.
func shownSize(content []byte) string {
	return fmt.Sprintf("%d bytes (SHA-256 %s)", len(content), events.DigestOf(content))
}

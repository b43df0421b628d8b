package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// workspace is the folder that file tools cannot leave.
type workspace struct {
	given string // absolute, as configured
	dir   string // absolute, links resolved
	root  *os.Root
	// changing is held by whoever changes a file, so that of two edits neither
	// is lost.
	changing sync.Mutex
}

func openWorkspace(path string, protected []string) (*workspace, error) {
	if path == "" {
		return nil, errors.New("workspace: no folder is named")
	}
	given, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	if err := os.MkdirAll(given, 0o750); err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	dir, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	if err := checkApart(dir, protected); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	return &workspace{given: given, dir: dir, root: root}, nil
}

// local makes a path of the model one beneath the workspace. It decides
// nothing about links: the root does, whenever the path is used.
func (w *workspace) local(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("%w: the path is empty: give one relative to the workspace", ErrArguments)
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%w: the path %q has a NUL byte", ErrArguments, path)
	}
	rel := path
	for _, dir := range []string{w.given, w.dir} {
		if beneath, found := strings.CutPrefix(path, dir+"/"); found {
			rel = beneath
		}
	}
	if path == w.given || path == w.dir {
		rel = "."
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is %w: give a path relative to the workspace", path, ErrOutside)
	}
	return rel, nil
}

// openRegular opens a file to read. It looks before it opens, because opening a
// pipe or a device has effects, and after it, because the name may mean
// something else by then; and it never waits for the other end of a pipe.
func openRegular(root *os.Root, name, shown string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err == nil {
		err = checkReadable(info)
	}
	if err != nil {
		return nil, nil, told(shown, err)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, told(shown, err)
	}
	info, err = f.Stat()
	if err == nil {
		err = checkReadable(info)
	}
	if err != nil {
		_ = f.Close() // only read
		return nil, nil, told(shown, err)
	}
	return f, info, nil
}

// checkReadable refuses what is no regular file, and a file with more than one
// name: another of them may be where tools must not reach.
func checkReadable(info fs.FileInfo) error {
	if kind := kindOf(info.Mode()); kind != "" {
		return fmt.Errorf("%w: it is a %s", ErrNotRegular, kind)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		return fmt.Errorf("%w: the file has %d names (hard links), of which others may lie outside the workspace", ErrRefused, stat.Nlink)
	}
	return nil
}

// kindOf names what is not a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// told says an error of the file system in the model's own name of the file.
func told(shown string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q: %w in the workspace", shown, fs.ErrNotExist)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("%q: %w", shown, err)
}

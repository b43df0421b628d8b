package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A workspace must not contain what tools may not reach, nor lie in it, whatever
// either is called. So they are compared three times: by path with links
// followed; by what the folders above them are (device and inode: a file system
// that ignores case, or that is mounted twice, has one folder under two paths);
// and by where each lies on its own file system (a bind mount shows a part of one
// somewhere else). What is mounted later is not seen.

// checkApart refuses a workspace through which tools could change what they must
// not reach.
func checkApart(dir string, protected []string) error {
	mounts, err := readMounts()
	if err != nil {
		return fmt.Errorf("workspace: %w", err)
	}
	for _, path := range protected {
		other, err := resolve(path)
		if err != nil {
			return fmt.Errorf("workspace: protected path: %w", err)
		}
		if within(dir, other) || within(other, dir) || isAbove(dir, other) || isAbove(other, dir) || mounts.overlap(dir, other) {
			return fmt.Errorf("workspace: %s and %s must not contain each other: choose another workspace", dir, other)
		}
	}
	return nil
}

// resolve follows the links of as much of a path as exists.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
		return resolved, err
	}
	parent, err := resolve(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// within reports whether path is dir or beneath it; both are clean.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// isAbove reports whether a folder is a path, or one of the folders above it,
// under whatever name. What does not exist is nobody.
func isAbove(dir, path string) bool {
	is, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(is, info) {
			return true
		}
		if path == filepath.Dir(path) {
			return false
		}
		path = filepath.Dir(path)
	}
}

// mount is a place in the tree of files where a part of a file system is shown.
type mount struct {
	at     string // where
	device string // which file system
	root   string // which part of it
}

type mounts []mount

// view is a folder or file as its file system has it.
type view struct{ device, path string }

// overlap reports whether two trees show parts of one file system of which one
// contains the other.
func (m mounts) overlap(a, b string) bool {
	for _, one := range m.views(a) {
		for _, other := range m.views(b) {
			if one.device == other.device && (within(one.path, other.path) || within(other.path, one.path)) {
				return true
			}
		}
	}
	return false
}

// views is all that is, or may be, shown at a path and beneath it: a mount over
// another hides that, which is not held in its favour.
func (m mounts) views(path string) (all []view) {
	for _, at := range m {
		if rel, err := filepath.Rel(at.at, path); err == nil && filepath.IsLocal(rel) {
			all = append(all, view{at.device, filepath.Join(at.root, rel)})
		} else if within(path, at.at) {
			all = append(all, view{at.device, at.root})
		}
	}
	return all
}

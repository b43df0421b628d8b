package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/countersign-dev/countersign/agent"
)

type writeTool struct{ *workbench }

func (*writeTool) Spec() agent.ToolSpec {
	return builtinSpec("Write",
		"Write a file of the workspace: content becomes all of it. A file that exists is replaced and keeps its mode; "+
			"missing folders are made. To change a part of a file use Edit.",
		`{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{`+
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},`+
			`"content":{"type":"string","description":"the whole new content"}}}`)
}

func (t *writeTool) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	var args struct {
		Path    *string `json:"path"`
		Content *string `json:"content"`
	}
	if err := errors.Join(decode(arguments, &args), context.Cause(ctx)); err != nil {
		return agent.Output{}, err
	}
	if err := errors.Join(require("path", args.Path), require("content", args.Content)); err != nil {
		return agent.Output{}, err
	}
	if err := t.workspace.write(*args.Path, []byte(*args.Content)); err != nil {
		return agent.Output{}, err
	}
	return agent.Output{Content: fmt.Appendf(nil, "wrote %d bytes to %s", len(*args.Content), *args.Path)}, nil
}

func (w *workspace) write(path string, content []byte) error {
	w.changing.Lock()
	defer w.changing.Unlock()
	target, err := w.target(path, true)
	if err != nil {
		return err
	}
	defer target.close()
	return target.replace(content)
}

// target is a file about to be changed: a name in a folder that is held open,
// so that whoever moves or relinks the folders above it changes nothing.
type target struct {
	folder *os.Root
	name   string
	shown  string      // the model's name of it
	old    fs.FileInfo // what is there now, or nil
}

// target finds a file to change and refuses what must not be changed. With
// make it makes the folders that are missing.
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
	t := &target{folder: folder, name: base, shown: path}
	if err := t.look(); err != nil {
		t.close()
		return nil, told(path, err)
	}
	return t, nil
}

func (w *workspace) folder(dir string, makeFolders bool) (*os.Root, error) {
	folder, err := w.root.OpenRoot(dir)
	if !makeFolders || !errors.Is(err, fs.ErrNotExist) {
		return folder, err
	}
	if err := w.root.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return w.root.OpenRoot(dir)
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
	if err := checkRegular(info); err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		return fmt.Errorf("%w: the file has %d names (hard links)", ErrRefused, stat.Nlink)
	}
	if info.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("%w: the file is read-only (mode %04o)", ErrRefused, info.Mode().Perm())
	}
	return nil
}

// replace puts a complete new file in the place of the old. A crash before the
// rename leaves the old file whole, and perhaps a hidden file beside it.
func (t *target) replace(content []byte) (err error) {
	fresh := ".countersign-" + rand.Text()
	f, err := t.folder.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return told(t.shown, err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, t.keepOwnerAndMode(f), f.Sync(), f.Close())
	if err == nil {
		err = t.folder.Rename(fresh, t.name)
	}
	if err != nil {
		return errors.Join(told(t.shown, err), t.folder.Remove(fresh))
	}
	return t.syncFolder()
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

func (t *target) close() { _ = t.folder.Close() } // only a handle

package tools

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew gives a file a name that nobody has: fs.ErrExist where somebody has
// it; errUnsupported.
func renameNew(folder *os.Root, from, to string) error {
	return renameWith(folder, from, to, unix.RENAME_NOREPLACE)
}

// exchange makes two files change places in one step: fs.ErrNotExist where one
// of them is not there; errUnsupported.
func exchange(folder *os.Root, one, other string) error {
	return renameWith(folder, one, other, unix.RENAME_EXCHANGE)
}

// renameWith renames within one folder. Both names are of one component, so no
// link is followed on the way.
func renameWith(folder *os.Root, from, to string, flags uint) error {
	dir, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // only a handle
	err = unix.Renameat2(int(dir.Fd()), from, int(dir.Fd()), to, flags)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errUnsupported
	}
	return err
}

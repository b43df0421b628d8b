//go:build unix

package isolate

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// refuseLinked refuses hidden files that have a second name, which no mount
// would cover.
func refuseLinked(path string) error {
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // what is not there, or cannot be read, has nothing to show
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // it is gone again
		}
		if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Nlink > 1 {
			return fmt.Errorf("%s is to be hidden from tools and has %d names (hard links): remove the others, or copy it", path, is.Nlink)
		}
		return nil
	})
}

package tools

import (
	"io/fs"
	"syscall"
	"time"
)

// stamp is what tells that a file has changed, without reading it. The zero value
// tells nothing.
type stamp struct {
	device, inode uint64
	size          int64
	mtime, ctime  syscall.Timespec
}

func stampOf(info fs.FileInfo) stamp {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{device: s.Dev, inode: s.Ino, size: s.Size, mtime: s.Mtim, ctime: s.Ctim}
}

// changed is when the file was last changed; nobody can set it but by the
// machine's clock.
func (s stamp) changed() time.Time { return time.Unix(s.ctime.Unix()) }

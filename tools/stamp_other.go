//go:build !linux

package tools

import (
	"io/fs"
	"time"
)

// stamp tells nothing where a running program's file can be written to.
type stamp struct{}

func stampOf(fs.FileInfo) stamp { return stamp{} }

func (stamp) changed() time.Time { return time.Now() }

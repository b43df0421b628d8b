package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const (
	// ballastFile is a file in the data directory that holds nothing but room.
	ballastFile = "reserve"
	// ballastStep is how much of it is given up at a time: not all at once, so
	// that whoever fills the disk does not get all of it.
	ballastStep = 4 << 20
)

// ballast is room on the disk that nobody else can take. The floor of free
// space keeps only our own new work away; other programs fill a disk as well.
// When a write finds no room, some of the ballast is given up for what ends
// work; it is made again when there is room for it and for the floor.
type ballast struct {
	path string
	full int64 // bytes; 0: there is none

	mu   sync.Mutex
	held int64 // bytes of the file; mu
}

// newBallast looks at what an earlier process left of it.
func newBallast(dir string, size int64) *ballast {
	b := &ballast{path: filepath.Join(dir, ballastFile), full: size}
	if info, err := os.Stat(b.path); err == nil {
		b.held = info.Size()
	}
	return b
}

// give gives some of it up and reports whether there was any.
func (b *ballast) give() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == 0 {
		return false
	}
	left := max(0, b.held-ballastStep)
	if err := os.Truncate(b.path, left); err != nil {
		return false
	}
	b.held = left
	return true
}

// fill makes it whole where so many free bytes leave the floor untouched.
func (b *ballast) fill(free, floor uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	missing := b.full - b.held
	if missing <= 0 || free < floor || free-floor < uint64(missing) {
		return nil
	}
	if err := allocate(b.path, b.full); err != nil {
		return fmt.Errorf("keep room in reserve in %s: %w", b.path, err)
	}
	b.held = b.full
	return nil
}

// allocate makes a file of some length whose blocks exist, or removes it.
func allocate(path string, size int64) error {
	f, err := os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(extend(f, size), f.Close()); err == nil {
		return nil
	}
	if gone := os.Remove(path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// writeOut extends a file by writing to it.
func writeOut(f *os.File, size int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for at := info.Size(); at < size; at += int64(len(block)) {
		if _, err := f.WriteAt(block[:min(size-at, int64(len(block)))], at); err != nil {
			return err
		}
	}
	return nil
}

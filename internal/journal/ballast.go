package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
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
//
// The file is looked at afresh each time: it may have been removed, exchanged,
// or copied without its blocks.
type ballast struct {
	path string
	full int64 // bytes; 0: there is none

	mu sync.Mutex // over looking and changing
}

func newBallast(dir string, size int64) *ballast {
	return &ballast{path: filepath.Join(dir, ballastFile), full: size}
}

// errNotBallast: something else stands in its place, and is left alone.
var errNotBallast = errors.New("it is no plain file of ours; remove it")

// held returns how many bytes it keeps: those of its length that have blocks.
func (b *ballast) held() (int64, error) {
	info, err := os.Lstat(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	blocks, links := footprint(info)
	if !info.Mode().IsRegular() || links > 1 || info.Size() > b.full {
		return 0, errNotBallast
	}
	return min(info.Size(), blocks), nil
}

// give gives some of it up and reports whether there was any.
func (b *ballast) give() (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held, err := b.held()
	if err != nil || held == 0 {
		return false, b.blame(err)
	}
	f, err := openBallast(b.path, os.O_RDWR)
	if err != nil {
		return false, b.blame(err)
	}
	err = errors.Join(f.Truncate(max(0, held-ballastStep)), f.Close())
	return err == nil, b.blame(err)
}

// fill makes it whole where so many free bytes leave the floor untouched.
func (b *ballast) fill(free, floor uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full == 0 {
		return nil
	}
	held, err := b.held()
	if err != nil {
		return b.blame(err)
	}
	missing := b.full - held
	if missing <= 0 || free < floor || free-floor < uint64(missing) {
		return nil
	}
	return b.blame(allocate(b.path, b.full))
}

func (b *ballast) blame(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("keep room in reserve in %s: %w", b.path, err)
}

// openBallast opens the file itself, never what a link names.
func openBallast(path string, flag int) (*os.File, error) {
	return os.OpenFile(filepath.Clean(path), flag|syscall.O_NOFOLLOW, 0o600)
}

// footprint returns the bytes that a file has blocks for, and how many names it
// has.
func footprint(info fs.FileInfo) (blocks int64, links uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.Size(), 1
	}
	return int64(st.Blocks) * 512, uint64(st.Nlink) //nolint:unconvert // other widths on other systems
}

// allocate makes a file of some length whose blocks exist, or removes it.
func allocate(path string, size int64) error {
	f, err := openBallast(path, os.O_RDWR|os.O_CREATE)
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

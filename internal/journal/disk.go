package journal

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// checkDisk is how long the answer about free space is believed, and how long
// new work is refused after a write found none.
const checkDisk = time.Second

// disk refuses new work when space is short, so that some is left for what
// ends work.
type disk struct {
	dir   string // "": in memory, always room
	floor uint64 // bytes
	free  func(dir string) (uint64, error)

	mu      sync.Mutex
	next    time.Time // guarded by mu; when to look again
	refusal error     // guarded by mu; the answer until then
}

// admit returns nil if work may begin, or ErrDiskFull.
func (d *disk) admit() error {
	if d.dir == "" {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	if now.Before(d.next) {
		return d.refusal
	}
	d.next, d.refusal = now.Add(checkDisk), nil
	free, err := d.free(d.dir)
	switch {
	case err != nil:
		d.refusal = fmt.Errorf("%w: free space of %s: %w", ErrDiskFull, d.dir, err)
	case free < d.floor:
		d.refusal = fmt.Errorf("%w: %s has %d MiB, %d MiB are kept for what is under way", ErrDiskFull, d.dir, free>>20, d.floor>>20)
	}
	return d.refusal
}

// full notes that a write found no room, whatever the file system says.
func (d *disk) full() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next, d.refusal = time.Now().Add(checkDisk), ErrDiskFull
}

// freeBytes returns what this process can still write in the file system.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a block size is positive
}

package journal

import (
	"fmt"
	"log/slog"
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
	dir     string // "": in memory, always room
	floor   uint64 // bytes
	free    func(dir string) (uint64, error)
	ballast *ballast // nil: in memory
	log     *slog.Logger

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
	default:
		d.refill(free)
	}
	return d.refusal
}

// refill makes the ballast whole, if that leaves room for new work.
func (d *disk) refill(free uint64) {
	if err := d.ballast.fill(free, d.floor); err != nil {
		d.log.Warn("there is less in reserve for a full disk than there should be", slog.Any("error", err))
	}
}

// prepare looks at the reserve before anything is opened: it makes it where
// there is room, and gives some of it up where SQLite would find none for the
// files beside the journal.
func (d *disk) prepare() {
	free, err := d.free(d.dir)
	if err != nil {
		return // admit says so when something is to begin
	}
	d.refill(free)
	if free < ballastStep {
		d.giveWay()
	}
}

// giveWay gives some of the ballast up for what ends work, and reports whether
// there was any.
func (d *disk) giveWay() bool {
	if d.ballast == nil {
		return false
	}
	gave, err := d.ballast.give()
	if err != nil {
		d.log.Warn("the room in reserve cannot be given up", slog.Any("error", err))
	}
	return gave
}

// full notes that a write found no room, whatever the file system says.
func (d *disk) full() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next, d.refusal = time.Now().Add(checkDisk), ErrDiskFull
}

// Room returns how many bytes the journal's file system has free for this
// process, and in all; ok is false in memory, and where nobody can say.
func (j *Journal) Room() (free, total uint64, ok bool) {
	if j.disk.dir == "" {
		return 0, 0, false
	}
	free, total, err := bytesOf(j.disk.dir)
	return free, total, err == nil
}

// freeBytes returns what this process can still write in the file system.
func freeBytes(dir string) (uint64, error) {
	free, _, err := bytesOf(dir)
	return free, err
}

func bytesOf(dir string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	block := uint64(s.Bsize) //nolint:gosec // a block size is positive
	return s.Bavail * block, s.Blocks * block, nil
}

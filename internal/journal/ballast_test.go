package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const mib = 1 << 20

// held returns the size of a directory's ballast, of which all is really there.
func held(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, ballastFile))
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	blocks := info.Sys().(*syscall.Stat_t).Blocks
	require.GreaterOrEqual(t, blocks*512, info.Size(), "a file with holes keeps no room")
	return info.Size()
}

// It is made where it takes nothing from the floor, given up piece by piece,
// and found again by the next process.
func TestBallast(t *testing.T) {
	dir := t.TempDir()
	b := newBallast(dir, 10*mib)
	require.False(t, gives(t, b), "there is none yet")
	require.NoError(t, b.fill(29*mib, 20*mib))
	require.Zero(t, held(t, dir), "the floor would be touched")
	require.NoError(t, b.fill(30*mib, 20*mib))
	require.EqualValues(t, 10*mib, held(t, dir))
	require.True(t, gives(t, b))
	require.EqualValues(t, 6*mib, held(t, dir))
	b = newBallast(dir, 10*mib)
	for _, left := range []int64{2 * mib, 0} {
		require.True(t, gives(t, b))
		require.Equal(t, left, held(t, dir))
	}
	require.False(t, gives(t, b))
	require.NoError(t, b.fill(30*mib, 20*mib))
	require.EqualValues(t, 10*mib, held(t, dir))
	require.Error(t, newBallast(filepath.Join(dir, "none"), mib).fill(mib, 0))
}

func gives(t *testing.T, b *ballast) bool {
	t.Helper()
	gave, err := b.give()
	require.NoError(t, err)
	return gave
}

// It is looked at afresh: what was removed, or copied without its blocks, is
// made again; what is not ours is left alone.
func TestBallastThatWasTouched(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ballastFile)
	b := newBallast(dir, 4*mib)
	fill := func() error { return b.fill(1<<40, 0) }
	require.NoError(t, fill())
	require.NoError(t, os.Remove(path))
	require.False(t, gives(t, b))
	require.NoError(t, fill())
	require.EqualValues(t, 4*mib, held(t, dir))

	require.NoError(t, os.Truncate(path, 0))
	require.NoError(t, os.Truncate(path, 4*mib)) // all hole
	require.False(t, gives(t, b))
	require.NoError(t, fill())
	require.EqualValues(t, 4*mib, held(t, dir))

	victim := filepath.Join(dir, "victim")
	for name, put := range map[string]func() error{
		"a link":      func() error { return os.Symlink(victim, path) },
		"a hard link": func() error { return os.Link(victim, path) },
		"a folder":    func() error { return os.Mkdir(path, 0o700) },
	} {
		require.NoError(t, os.WriteFile(victim, []byte("not ours"), 0o600))
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, put())
		require.ErrorIs(t, fill(), errNotBallast, name)
		_, err := b.give()
		require.ErrorIs(t, err, errNotBallast, name)
		text, err := os.ReadFile(victim)
		require.NoError(t, err)
		require.Equal(t, "not ours", string(text), name)
	}
}

// The other way to make it, where the system cannot reserve blocks.
func TestBallastWrittenOut(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), ballastFile))
	require.NoError(t, err)
	defer f.Close()
	for _, size := range []int64{mib + 1, 3*mib + 1} {
		require.NoError(t, writeOut(f, size))
		require.Equal(t, size, held(t, filepath.Dir(f.Name())))
	}
}

// On a full disk what begins work leaves the reserve alone; what ends work gets
// it; with room it is made again.
func TestReserveIsForWhatEndsWork(t *testing.T) {
	var free atomic.Uint64
	free.Store(1 << 40)
	j, _ := running(t, Options{
		Path: filepath.Join(t.TempDir(), "journal.db"), maxPages: 100, ReserveBytes: 8 * mib,
		free: func(string) (uint64, error) { return free.Load(), nil },
	})
	dir := filepath.Dir(j.o.Path)
	require.EqualValues(t, 8*mib, held(t, dir))
	for err := error(nil); err == nil; {
		_, err = j.Append(t.Context(), Begins, entries(10, "one")...)
	}
	require.EqualValues(t, 8*mib, held(t, dir), "what begins work leaves it alone")

	free.Store(0)
	ended := make(chan error, 1)
	go func() {
		_, err := j.Append(context.Background(), Ends, entries(10, "two")...)
		ended <- err
	}()
	require.Eventually(t, func() bool { return held(t, dir) == 0 }, 5*time.Second, 5*time.Millisecond)
	free.Store(1 << 40)
	_, err := j.db.Write.ExecContext(t.Context(), "PRAGMA max_page_count = 100000")
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.Eventually(t, func() bool {
		_, err := j.Append(t.Context(), Begins, entry("one"))
		return err == nil
	}, 5*time.Second, 50*time.Millisecond)
	require.EqualValues(t, 8*mib, held(t, dir))
}

// A start on a disk that is all but full takes what SQLite needs to begin from
// the reserve.
func TestStartOnAFullDisk(t *testing.T) {
	o := Options{Path: filepath.Join(t.TempDir(), "journal.db"), ReserveBytes: 8 * mib}
	_, stop := running(t, o)
	stop()
	require.EqualValues(t, 8*mib, held(t, filepath.Dir(o.Path)))
	o.free = func(string) (uint64, error) { return 0, nil }
	running(t, o)
	require.EqualValues(t, 4*mib, held(t, filepath.Dir(o.Path)))
}

// Stopping does not wait for another program that holds the file.
func TestStopWhileLocked(t *testing.T) {
	j, stop := running(t, Options{})
	other, err := j.checkpointer.db.Write.Conn(t.Context())
	require.NoError(t, err)
	_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := j.Append(context.Background(), Ends, entry("one"))
		ended <- err
	}()
	require.Eventually(t, func() bool { return !j.queue.all.TryAcquire(j.queue.limit) || give(j) }, time.Second, time.Millisecond)
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = j.Append(ctx, Ends, entry("two"))
	require.ErrorIs(t, err, context.DeadlineExceeded, "who does not wait is answered")
	released := make(chan error, 1)
	go func() { // the pool must have its connection back before stop closes it
		err := <-ended
		_, rollback := other.ExecContext(context.Background(), "ROLLBACK")
		released <- errors.Join(err, rollback, other.Close())
	}()
	stop()
	require.ErrorIs(t, <-released, ErrStopped)
	require.Less(t, time.Since(began), 4*time.Second)
}

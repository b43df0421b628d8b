package journal

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What begins work is refused when its share is full; what ends work still
// finds room, and then waits until there is some.
func TestAdmission(t *testing.T) {
	j, err := Open(t.Context(), Options{Memory: true, QueueBytes: 8 * entryWeight})
	require.NoError(t, err)
	results := make(chan error, 8)
	put := func(class Class) {
		before := len(j.queue.snapshot())
		go func() {
			_, err := j.Append(context.Background(), class, entry("one"))
			results <- err
		}()
		require.Eventually(t, func() bool { return len(j.queue.snapshot()) > before }, time.Second, time.Millisecond)
	}
	for range 6 { // the share of what begins work
		put(Begins)
	}
	_, err = j.Append(t.Context(), Begins, entry("one"))
	require.ErrorIs(t, err, ErrOverloaded)
	put(Ends)
	put(Ends)

	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = j.Append(short, Ends, entry("one"))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	waited := make(chan error, 1)
	go func() {
		_, err := j.Append(context.Background(), Ends, entry("one"))
		waited <- err
	}()
	run(t, j)
	require.NoError(t, <-waited)
	for range 8 {
		require.NoError(t, <-results)
	}
	require.EqualValues(t, 9, j.Head().Row)
	appended(t, j, Begins, entries(6, "one")...) // all room was given back
	_, err = j.Append(t.Context(), Ends, entries(7, "one")...)
	require.ErrorIs(t, err, ErrTooLarge)
}

// Below the floor nothing begins, and what ends work goes into the reserve.
func TestDiskFloor(t *testing.T) {
	var free atomic.Uint64
	j, _ := running(t, Options{
		Path: filepath.Join(t.TempDir(), "journal.db"), FreeBytes: 1 << 20,
		free: func(string) (uint64, error) { return free.Load(), nil },
	})
	_, err := j.Append(t.Context(), Begins, entry("one"))
	require.ErrorIs(t, err, ErrDiskFull)
	appended(t, j, Ends, entry("one"))

	free.Store(2 << 20)
	require.Eventually(t, func() bool {
		_, err := j.Append(t.Context(), Begins, entry("one"))
		return err == nil
	}, 5*time.Second, 50*time.Millisecond, "it goes on by itself")
}

// SQLite finds no room: nothing is acknowledged, what begins work is refused,
// what ends work is written as soon as there is room.
func TestFullAndThenRoom(t *testing.T) {
	j, _ := running(t, Options{Path: filepath.Join(t.TempDir(), "journal.db"), maxPages: 100})
	var stored int64
	for {
		s, err := j.Append(t.Context(), Begins, entries(10, "one")...)
		if err != nil {
			require.ErrorIs(t, err, ErrDiskFull)
			break
		}
		stored = s[9].Row
	}
	require.Positive(t, stored)
	require.Equal(t, stored, j.Head().Row, "what was refused is not stored")
	verified(t, j)

	ended := make(chan error, 1)
	go func() {
		_, err := j.Append(context.Background(), Ends, entries(10, "two")...)
		ended <- err
	}()
	gaveUp, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := j.Append(gaveUp, Ends, entries(10, "three")...)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, ended, "no room yet")
	_, err = j.Append(t.Context(), Begins, entry("one"))
	require.ErrorIs(t, err, ErrDiskFull)

	_, err = j.db.Write.ExecContext(t.Context(), "PRAGMA max_page_count = 100000")
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.Eventually(t, func() bool {
		_, err := j.Append(t.Context(), Begins, entry("one"))
		return err == nil
	}, 5*time.Second, 50*time.Millisecond, "it goes on by itself")
	three, err := j.ReadSession(t.Context(), "three", 0, 1)
	require.NoError(t, err)
	require.Empty(t, three)
	verified(t, j)
}

// Stopping does not wait for a disk that stays full.
func TestStopWhileFull(t *testing.T) {
	j, stop := running(t, Options{Path: filepath.Join(t.TempDir(), "journal.db"), maxPages: 100})
	for err := error(nil); err == nil; {
		_, err = j.Append(t.Context(), Begins, entries(10, "one")...)
	}
	head := j.Head()
	ended := make(chan error, 1)
	go func() {
		_, err := j.Append(context.Background(), Ends, entries(50, "two")...)
		ended <- err
	}()
	require.Eventually(t, func() bool { return !j.queue.all.TryAcquire(j.queue.limit) || give(j) }, time.Second, time.Millisecond)
	stop()
	err := <-ended
	require.ErrorIs(t, err, ErrDiskFull)
	require.ErrorIs(t, err, ErrStopped)
	j, _ = running(t, Options{Path: j.o.Path})
	require.Equal(t, head, j.Head())
	verified(t, j)
}

// give returns what a look at the semaphore took.
func give(j *Journal) bool {
	j.queue.all.Release(j.queue.limit)
	return false
}

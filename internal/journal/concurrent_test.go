package journal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func pid() string { return strconv.Itoa(os.Getpid()) }

// Each producer's events stand in the order in which it appended them, and a
// reader that follows sees every row once, in order, while they are written.
func TestOrderUnderConcurrency(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		j, _ := running(t, o)
		const producers, appends = 50, 40
		var wg sync.WaitGroup
		rows := make([][]int64, producers)
		for p := range producers {
			wg.Go(func() {
				for i := range appends {
					es := entries(1+i%3, strconv.Itoa(p))
					stored, err := j.Append(context.Background(), Ends, es...)
					if err != nil {
						t.Error(err)
						return
					}
					for k, s := range stored {
						if s.Row != stored[0].Row+int64(k) {
							t.Errorf("the entries of one append stand at rows %d and %d", stored[0].Row, s.Row)
						}
						rows[p] = append(rows[p], s.Row)
					}
				}
			})
		}
		total := int64(producers * (appends/3*6 + 1))
		follow(t, j, total)
		wg.Wait()
		for p := range producers {
			require.IsIncreasing(t, rows[p])
			got, err := j.ReadSession(t.Context(), strconv.Itoa(p), 0, 1000)
			require.NoError(t, err)
			require.Len(t, got, len(rows[p]))
			for i, s := range got {
				require.Equal(t, rows[p][i], s.Row)
			}
		}
		require.Equal(t, total, j.Head().Row)
		verified(t, j)
	})
}

func follow(t *testing.T, j *Journal, total int64) {
	t.Helper()
	for row := int64(0); row < total; {
		head, err := j.Wait(t.Context(), row)
		require.NoError(t, err)
		batch, err := j.Read(t.Context(), row, 100)
		require.NoError(t, err)
		require.NotEmpty(t, batch, "the head is %d, beyond %d", head, row)
		for _, s := range batch {
			require.Equal(t, row+1, s.Row)
			require.EqualValues(t, row, s.Record.Offset)
			row++
		}
	}
}

// An append that is under way when the journal stops was stored, or got an
// error and was not: never an error for what is stored, or the reverse.
func TestStopWhileAppending(t *testing.T) {
	j, stop := running(t, Options{Path: filepath.Join(t.TempDir(), "journal.db")})
	const producers = 20
	var wg sync.WaitGroup
	acknowledged, refused := make([][]Entry, producers), make([]Entry, producers)
	for p := range producers {
		wg.Go(func() {
			for {
				e := entry("one")
				_, err := j.Append(context.Background(), Class(1+p%2), e)
				if err != nil {
					if !errors.Is(err, ErrStopped) {
						t.Error(err)
					}
					refused[p] = e
					return
				}
				acknowledged[p] = append(acknowledged[p], e)
			}
		})
	}
	_, err := j.Wait(t.Context(), 500)
	require.NoError(t, err)
	stop()
	wg.Wait()

	j, _ = running(t, Options{Path: j.o.Path})
	for p := range producers {
		for _, e := range acknowledged[p] {
			_, err := j.Find(t.Context(), 0, e.ID)
			require.NoError(t, err)
		}
		_, err := j.Find(t.Context(), 0, refused[p].ID)
		require.ErrorIs(t, err, ErrNotFound)
	}
	verified(t, j)
}

// An error that does not mean "no room" ends the journal: everybody who waits
// is told, and Run says why.
func TestWriterStopsForGood(t *testing.T) {
	j, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "journal.db")})
	require.NoError(t, err)
	require.NoError(t, j.db.Write.Close()) // the fault
	const waiting = 5
	results := make(chan error, waiting)
	for range waiting {
		go func() {
			_, err := j.Append(context.Background(), Ends, entries(commitEntries, "one")...)
			results <- err
		}()
	}
	err = j.Run(t.Context())
	require.ErrorContains(t, err, "closed")
	for range waiting {
		require.ErrorIs(t, <-results, ErrStopped)
	}
	_, err = j.Append(t.Context(), Ends, entry("one"))
	require.ErrorIs(t, err, ErrStopped)
	require.ErrorContains(t, err, "closed")
	require.NoError(t, j.Close())
}

// The log of a busy writer is copied and begun anew, with readers at work.
func TestTheWriteAheadLogStaysShort(t *testing.T) {
	const most = 2 << 20
	j, _ := running(t, Options{Path: filepath.Join(t.TempDir(), "journal.db"), walBytes: most})
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for row := int64(0); ; row %= 10_000 {
				batch, err := j.Read(ctx, row, 500)
				if err != nil {
					return
				}
				row += int64(len(batch)) + 1
			}
		})
	}
	for range 60 {
		appended(t, j, Begins, entries(500, "one")...)
	}
	cancel()
	readers.Wait()
	log, err := os.Stat(j.o.Path + "-wal")
	require.NoError(t, err)
	file, err := os.Stat(j.o.Path)
	require.NoError(t, err)
	require.Greater(t, file.Size(), int64(8*most), "the test should write much more than the log may hold")
	require.Less(t, log.Size(), int64(4*most))
	verified(t, j)
}

// Readers that give up at any moment leave no snapshot behind that would keep
// the write-ahead log from beginning anew, or from going at the end.
func TestCancelledReadsLeaveNothingBehind(t *testing.T) {
	j, stop := running(t, Options{Path: filepath.Join(t.TempDir(), "journal.db")})
	for range 5 {
		appended(t, j, Begins, entries(1000, "one")...)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*20)*time.Microsecond)
				_, _ = j.Read(ctx, 0, 1000)
				_ = j.VerifyAll(ctx, func(int64) {})
				cancel()
			}
		})
	}
	readers.Wait()
	stop()
	require.NoFileExists(t, j.o.Path+"-wal")
}

package journal

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestReadInBatches(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		j, _ := running(t, o)
		want := appended(t, j, Begins, entries(25, "one")...)
		var got []Stored
		for row := int64(0); ; {
			batch, err := j.Read(t.Context(), row, 10)
			require.NoError(t, err)
			if len(batch) == 0 {
				break
			}
			require.LessOrEqual(t, len(batch), 10)
			row = batch[len(batch)-1].Row
			got = append(got, batch...)
		}
		requireStored(t, want, got)
	})
}

// A session is read in order although its number changes as rows go by.
func TestReadSessionAcrossItsStays(t *testing.T) {
	j, stop := running(t, Options{Path: t.TempDir() + "/journal.db"})
	session := uuid.NewString()
	var want []Stored
	for i := range 40 {
		if i == 20 {
			stop()
			j, stop = running(t, Options{Path: j.o.Path})
		}
		want = append(want, appended(t, j, Begins, entry(session))...)
		appended(t, j, Begins, entries(997, fmt.Sprintf("other-%d", i%7))...)
	}
	var stays int
	require.NoError(t, j.db.Read.QueryRow(`SELECT count(*) FROM sessions WHERE name = ?`, pack(session)).Scan(&stays))
	require.GreaterOrEqual(t, stays, 3, "the test should cover several")

	all, err := j.ReadSession(t.Context(), session, 0, 100)
	require.NoError(t, err)
	requireStored(t, want, all)
	some, err := j.ReadSession(t.Context(), session, want[11].Row, 10)
	require.NoError(t, err)
	requireStored(t, want[12:22], some)
	none, err := j.ReadSession(t.Context(), "unknown", 0, 10)
	require.NoError(t, err)
	require.Empty(t, none)
	verified(t, j)
}

func TestFind(t *testing.T) {
	j, _ := running(t, Options{Memory: true})
	e := entry("one")
	want := appended(t, j, Begins, e)
	got, err := j.Find(t.Context(), 0, e.ID)
	require.NoError(t, err)
	requireStored(t, want, []Stored{got})
	_, err = j.Find(t.Context(), 1, e.ID)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = j.Find(t.Context(), 0, uuid.NewString())
	require.ErrorIs(t, err, ErrNotFound)
}

func TestWaitReturnsAtOnceWhenThereIsMore(t *testing.T) {
	j, _ := running(t, Options{Memory: true})
	appended(t, j, Begins, entries(3, "one")...)
	row, err := j.Wait(t.Context(), 2)
	require.NoError(t, err)
	require.EqualValues(t, 3, row)
}

func TestWaitWakesAll(t *testing.T) {
	j, _ := running(t, Options{Memory: true})
	const waiters = 1000
	woken := make(chan int64, waiters)
	for range waiters {
		go func() {
			row, err := j.Wait(context.Background(), 0)
			if err != nil {
				row = -1
			}
			woken <- row
		}()
	}
	appended(t, j, Begins, entry("one"))
	for range waiters {
		require.EqualValues(t, 1, <-woken)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	j, _ := running(t, Options{Memory: true})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := j.Wait(ctx, 0)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A journal that is open for reading only follows the process that writes.
func TestReadOnlyFollows(t *testing.T) {
	j, _ := running(t, Options{Path: t.TempDir() + "/journal.db"})
	appended(t, j, Begins, entries(3, "one")...)
	reader, err := Open(t.Context(), Options{Path: j.o.Path, ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	require.Equal(t, j.Head(), reader.Head())

	want := appended(t, j, Begins, entry("one"))
	row, err := reader.Wait(t.Context(), 3)
	require.NoError(t, err)
	require.EqualValues(t, 4, row)
	got, err := reader.Read(t.Context(), 3, 10)
	require.NoError(t, err)
	requireStored(t, want, got)
	verified(t, reader)

	_, err = reader.Append(t.Context(), Ends, entry("one"))
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorIs(t, reader.Run(t.Context()), ErrReadOnly)
}

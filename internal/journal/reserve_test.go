package journal

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlotOrder: entries stand in the order of Put, whatever the order of
// Reserve and Wait.
func TestSlotOrder(t *testing.T) {
	j, _ := running(t, Options{Memory: true})
	first, err := j.Reserve(t.Context(), Begins, 1, 1000)
	require.NoError(t, err)
	second, err := j.TryReserve(t.Context(), Ends, 2, 3000)
	require.NoError(t, err)
	require.NoError(t, second.Put(entry("s"), entry("s")))
	require.NoError(t, first.Put(entry("s")))
	stored, err := first.Wait()
	require.NoError(t, err)
	require.Equal(t, int64(3), stored[0].Row)
	stored, err = second.Wait()
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, []int64{stored[0].Row, stored[1].Row})
}

// TestSlotRoom: however a slot ends, its room comes back, and until then it is
// taken.
func TestSlotRoom(t *testing.T) {
	j, _ := running(t, Options{Memory: true, QueueBytes: 64 << 10})
	const all = 48<<10 - entryWeight // of the share of what begins work
	gone, giveUp := context.WithCancelCause(t.Context())
	giveUp(errors.New("gave up"))
	ends := map[string]func(s *Slot){
		"release":      func(s *Slot) { s.Release() },
		"put and wait": func(s *Slot) { require.NoError(t, s.Put(entry("s"))); _, err := s.Wait(); require.NoError(t, err) },
		"more than stated": func(s *Slot) {
			require.ErrorIs(t, s.Put(entry("s"), entry("s", string(make([]byte, all)))), ErrTooLarge)
		},
		"nothing":      func(s *Slot) { require.ErrorIs(t, s.Put(), ErrTooLarge) },
		"not an entry": func(s *Slot) { require.ErrorIs(t, s.Put(Entry{}), ErrTooLarge) },
	}
	for name, end := range ends {
		for range 3 {
			s, err := j.TryReserve(t.Context(), Begins, 1, all)
			require.NoError(t, err, name)
			_, err = j.TryReserve(t.Context(), Begins, 1, 1)
			require.ErrorIs(t, err, ErrOverloaded, name)
			_, err = j.TryReserve(t.Context(), Ends, 1, all)
			require.ErrorIs(t, err, ErrOverloaded, name)
			_, err = j.Reserve(gone, Ends, 1, all)
			require.ErrorContains(t, err, "gave up", name)
			end(s)
		}
	}
	_, err := j.Reserve(t.Context(), Ends, 1, all+1)
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = j.Reserve(t.Context(), 0, 1, 1)
	require.ErrorContains(t, err, "neither Begins nor Ends")
}

// TestSlotStopped: a journal that stopped between Reserve and Put takes
// nothing.
func TestSlotStopped(t *testing.T) {
	j, stop := running(t, Options{Memory: true})
	s, err := j.Reserve(t.Context(), Ends, 1, 1000)
	require.NoError(t, err)
	stop()
	require.ErrorIs(t, s.Put(entry("s")), ErrStopped)
}

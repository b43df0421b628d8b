package seats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/seats"
)

func TestNobodyTakesAll(t *testing.T) {
	for _, c := range []struct{ all, each int }{{1, 16}, {16, 16}, {40, 16}, {64, 16}, {100, 25}, {2000, 500}} {
		s := seats.New(c.all)
		require.Equal(t, c.each, s.Each())
		var leave []func()
		for range min(c.all, c.each) {
			one, err := s.Take("greedy")
			require.NoError(t, err)
			leave = append(leave, one)
		}
		_, err := s.Take("greedy")
		if c.all <= c.each {
			require.ErrorIs(t, err, seats.ErrFull)
			_, err = s.Take("modest")
			require.ErrorIs(t, err, seats.ErrFull)
		} else {
			require.ErrorIs(t, err, seats.ErrYours)
			_, err = s.Take("modest")
			require.NoError(t, err)
		}
		leave[0]()
		_, err = s.Take("greedy")
		require.NoError(t, err, "what is given back can be taken")
	}
}

package projections

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TextsOf returns the ids of a segment's texts.
func TextsOf(t *testing.T, stored []byte) (ids []int64) {
	t.Helper()
	require.NoError(t, eachText(stored, func(id int64, _ bool) bool {
		ids = append(ids, id)
		return true
	}))
	return ids
}

// NumbersOf returns the numbers of a stored set of n texts.
func NumbersOf(t *testing.T, stored []byte, n int) (numbers []int) {
	t.Helper()
	require.NoError(t, eachOf(stored, n, func(i int) { numbers = append(numbers, i) }))
	return numbers
}

package countersign

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Times that have monotonic readings are compared by those, so a step of the
// wall clock would never show.
func TestStepsAreSeenOnTheWallClockAlone(t *testing.T) {
	c := &Countersign{o: Options{Clock: time.Now}}
	require.Contains(t, time.Now().String(), " m=")
	require.NotContains(t, c.wall().String(), " m=")
}

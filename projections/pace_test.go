package projections

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What a rebuild does not mend, or has no room for, is tried ever more seldom.
func TestRebuildsComeEverMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pace
		for i, want := range []time.Duration{
			0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, 64 * time.Second,
			128 * time.Second, 256 * time.Second, 5 * time.Minute, 5 * time.Minute,
		} {
			require.Equal(t, want, p.next(), "attempt %d", i+1)
			p.ended()
		}
		<-time.After(2 * time.Hour)
		require.Zero(t, p.next(), "after hours of calm")
	})
}

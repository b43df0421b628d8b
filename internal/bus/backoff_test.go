package bus

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/journal"
)

// TestBackOff: the pause before a nacked message comes again doubles up to its
// bound, and begins anew with the next message.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &subscription{o: Options{LastRetry: 300 * time.Millisecond}.withDefaults(), topic: Topic, out: make(chan *message.Message)}
		done := make(chan bool)
		for range 2 {
			go func() { done <- s.deliver(ctx, journal.Stored{Row: 1}) }()
			(<-s.out).Nack()
			for _, ms := range []int{50, 100, 200, 300, 300} {
				since := time.Now()
				m := <-s.out
				require.Equal(t, ms, int(time.Since(since).Milliseconds()))
				m.Nack()
			}
			(<-s.out).Ack()
			require.True(t, <-done)
		}
		go func() { done <- s.deliver(ctx, journal.Stored{Row: 1}) }()
		(<-s.out).Nack()
		cancel()
		require.False(t, <-done, "an end during the pause")
	})
}

// TestDefaults: the zero options are those that the comments promise.
func TestDefaults(t *testing.T) {
	require.Equal(t, Options{
		Codec: Events{}, FirstRetry: 50 * time.Millisecond, LastRetry: 5 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}, Options{}.withDefaults())
}

package bus_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// BenchmarkAppend compares the producer with its limit, the journal alone with
// events that were minted before, one event an append.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("journal/callers=%d", callers), func(b *testing.B) {
			j, _ := run(b, journal.Options{Path: filepath.Join(b.TempDir(), "journal.db")})
			minted := make(chan journal.Entry, b.N)
			m := events.NewMinter(source, eventstest.Now)
			for range b.N {
				one, err := m.Mint(draft(events.TypeToolResult, "a"))
				require.NoError(b, err)
				minted <- journal.Entry{ID: one[0].ID, Session: "a", Envelope: one[0].Envelope, Payloads: one[0].Payloads}
			}
			atOnce(b, callers, func() error {
				_, err := j.Append(b.Context(), journal.Ends, <-minted)
				return err
			})
		})
		b.Run(fmt.Sprintf("producer/callers=%d", callers), func(b *testing.B) {
			j, _ := run(b, journal.Options{Path: filepath.Join(b.TempDir(), "journal.db")})
			p := producer(j)
			atOnce(b, callers, func() error {
				_, err := p.Append(b.Context(), draft(events.TypeToolResult, "a"))
				return err
			})
		})
	}
}

// BenchmarkDelivery is what one subscription takes from a journal that is full
// already, acking each message.
func BenchmarkDelivery(b *testing.B) {
	for _, i := range implementations() {
		b.Run(i.name, func(b *testing.B) {
			j, _ := run(b, i.journal(b))
			on := i.bus(j, bus.Options{})
			messages := mint(b, source, b.N)
			for at := 0; at < len(messages); at += 1000 {
				require.NoError(b, on.Publish(bus.Topic, messages[at:min(at+1000, len(messages))]...))
			}
			b.ResetTimer()
			in, err := on.SubscribeAfter(b.Context(), bus.Topic, 0)
			require.NoError(b, err)
			for range b.N {
				(<-in).Ack()
			}
			b.StopTimer()
			require.NoError(b, on.Close())
		})
	}
}

func atOnce(b *testing.B, callers int, do func() error) {
	b.Helper()
	b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	if callers == 1 {
		for range b.N {
			require.NoError(b, do())
		}
		return
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := do(); err != nil {
				b.Error(err)
			}
		}
	})
}

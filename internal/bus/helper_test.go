package bus_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// patience is how long a test waits for what must come, on a busy machine.
const patience = 30 * time.Second

// Bus is what the contract is about.
type Bus interface {
	message.Publisher
	Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error)
	SubscribeAfter(ctx context.Context, topic string, row int64) (<-chan *message.Message, error)
	fmt.Stringer
}

// implementation is a way to make a bus.
type implementation struct {
	name    string
	journal func(testing.TB) journal.Options
	bus     func(*journal.Journal, bus.Options) Bus
}

func implementations() []implementation {
	return []implementation{
		{
			"embedded",
			func(t testing.TB) journal.Options {
				return journal.Options{Path: filepath.Join(t.TempDir(), "journal.db")}
			},
			func(j *journal.Journal, o bus.Options) Bus { return bus.NewEmbedded(j, o) },
		},
		{
			"memory",
			func(testing.TB) journal.Options { return journal.Options{Memory: true} },
			func(j *journal.Journal, o bus.Options) Bus { return bus.NewMemory(j, o) },
		},
	}
}

// run opens a journal and runs it until the test ends, or stop is called.
func run(t testing.TB, o journal.Options) (j *journal.Journal, stop func()) {
	t.Helper()
	j, err := journal.Open(t.Context(), o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, j.Close())
	}
	t.Cleanup(stop)
	return j, stop
}

// start opens a bus of an implementation over a fresh journal.
func (i implementation) start(t *testing.T) (Bus, *journal.Journal) {
	t.Helper()
	j, _ := run(t, i.journal(t))
	b := i.bus(j, bus.Options{FirstRetry: time.Millisecond, LastRetry: 5 * time.Millisecond})
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b, j
}

// mint returns n events of one source, as messages to publish.
func mint(t testing.TB, source string, n int) []*message.Message {
	t.Helper()
	drafts := make([]events.Draft, n)
	for i := range drafts {
		drafts[i] = eventstest.Sample(events.TypeToolResult)
	}
	minted, err := events.NewMinter(source, eventstest.Now).Mint(drafts...)
	require.NoError(t, err)
	messages := make([]*message.Message, n)
	for i, m := range minted {
		messages[i] = bus.NewMessage(m)
	}
	return messages
}

// ids returns the UUIDs of messages.
func ids(messages []*message.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.UUID
	}
	return out
}

// next receives one message without acking it.
func next(t *testing.T, in <-chan *message.Message) *message.Message {
	t.Helper()
	select {
	case m, ok := <-in:
		require.True(t, ok, "the subscription was closed")
		return m
	case <-time.After(patience):
		require.FailNow(t, "no message came")
		return nil
	}
}

// take receives and acks n messages.
func take(t *testing.T, in <-chan *message.Message, n int) []*message.Message {
	t.Helper()
	out := make([]*message.Message, n)
	for i := range out {
		out[i] = next(t, in)
		require.True(t, out[i].Ack())
	}
	return out
}

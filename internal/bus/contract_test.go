package bus_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// TestContract is what every bus promises to those who publish and subscribe.
func TestContract(t *testing.T) {
	clauses := []struct {
		name string
		hold func(t *testing.T, b Bus, j *journal.Journal)
	}{
		{"concurrent publishers: one order for all, each publisher's own kept", oneOrder},
		{"a publish stands together, or not at all", togetherOrNotAtAll},
		{"the same message again is stored once", storedOnce},
		{"other bytes under a known id are refused", conflict},
		{"what is no event is refused, and the rest with it", noEvent},
		{"payloads are stored beside the event", payloadsStored},
		{"a subscription begins at the end", fromTheEnd},
		{"a subscription begins after a row", afterARow},
		{"every message wakes a subscription that waits", wakes},
		{"a nacked message comes again, before the next, untouched", comesAgain},
		{"a slow subscription holds up nobody", slowSubscription},
		{"a record that is no event is delivered, and the next as well", malformedRecord},
		{"what was not acked at close comes again", closedUnacked},
		{"after close nothing is taken", closed},
		{"a subscription ends with its context", contextEnds},
	}
	for _, i := range implementations() {
		for _, c := range clauses {
			t.Run(i.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				b, j := i.start(t)
				c.hold(t, b, j)
			})
		}
	}
}

// publishAtOnce publishes in parallel, the messages of each publisher in
// chunks, one after the other.
func publishAtOnce(t *testing.T, b Bus, publishers [][]*message.Message, chunk int) {
	t.Helper()
	var all errgroup.Group
	for _, messages := range publishers {
		all.Go(func() error {
			for c := range slices.Chunk(messages, chunk) {
				if err := b.Publish(bus.Topic, c...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
}

func oneOrder(t *testing.T, b Bus, _ *journal.Journal) {
	const publishers, each = 8, 50
	messages := make([][]*message.Message, publishers)
	for p := range messages {
		messages[p] = mint(t, fmt.Sprintf("agentd/test/%d", p), each)
	}
	early, err := b.Subscribe(t.Context(), bus.Topic)
	require.NoError(t, err)
	publishAtOnce(t, b, messages, 1)
	late, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)

	got := take(t, early, publishers*each)
	require.Equal(t, ids(got), ids(take(t, late, publishers*each)), "subscriptions disagree about the order")
	for p, published := range messages {
		own := slices.DeleteFunc(ids(got), func(id string) bool { return !slices.Contains(ids(published), id) })
		require.Equal(t, ids(published), own, "the messages of publisher %d", p)
	}
	require.True(t, slices.IsSortedFunc(got, func(a, b *message.Message) int { return int(bus.Row(a) - bus.Row(b)) }))
}

func togetherOrNotAtAll(t *testing.T, b Bus, j *journal.Journal) {
	const publishers, each, chunk = 6, 60, 3
	messages := make([][]*message.Message, publishers)
	for p := range messages {
		messages[p] = mint(t, fmt.Sprintf("agentd/test/%d", p), each)
	}
	publishAtOnce(t, b, messages, chunk)
	bad := mint(t, "agentd/test/bad", 3)
	bad[2].UUID = bad[0].UUID // its envelope says otherwise
	require.Error(t, b.Publish(bus.Topic, bad...))
	clash := mint(t, "agentd/test/clash", 3)
	known := messages[0][0]
	clash[2] = message.NewMessage(known.UUID, append(slices.Clone(known.Payload), ' '))
	require.ErrorIs(t, b.Publish(bus.Topic, clash...), journal.ErrConflict)

	require.Equal(t, int64(publishers*each), j.Head().Row, "a part of a refused publish was stored")
	in, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	got := ids(take(t, in, publishers*each))
	for _, published := range messages {
		for c := range slices.Chunk(ids(published), chunk) {
			at := slices.Index(got, c[0])
			require.Equal(t, c, got[at:at+chunk], "a publish was torn apart")
		}
	}
}

func storedOnce(t *testing.T, b Bus, j *journal.Journal) {
	messages := mint(t, "agentd/test/1", 3)
	require.NoError(t, b.Publish(bus.Topic, messages[:2]...))
	require.NoError(t, b.Publish(bus.Topic, messages[0]))
	require.NoError(t, b.Publish(bus.Topic, messages...), "a publish that is known in part adds the rest")
	require.Equal(t, int64(3), j.Head().Row)
	in, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	require.Equal(t, ids(messages), ids(take(t, in, 3)))
}

func conflict(t *testing.T, b Bus, j *journal.Journal) {
	m := mint(t, "agentd/test/1", 1)[0]
	require.NoError(t, b.Publish(bus.Topic, m))
	other := message.NewMessage(m.UUID, append(slices.Clone(m.Payload), '\n'))
	require.ErrorIs(t, b.Publish(bus.Topic, other), journal.ErrConflict)
	require.Equal(t, int64(1), j.Head().Row)
}

func noEvent(t *testing.T, b Bus, j *journal.Journal) {
	for name, change := range map[string]func(m *message.Message) (topic string){
		"another topic":          func(*message.Message) string { return "decisions" },
		"no JSON":                func(m *message.Message) string { m.Payload = []byte("{"); return bus.Topic },
		"nothing":                func(m *message.Message) string { m.Payload = nil; return bus.Topic },
		"another id":             func(m *message.Message) string { m.UUID = events.NewID(); return bus.Topic },
		"a payload without salt": func(m *message.Message) string { m.Metadata.Set("countersign-payload-0", "x"); return bus.Topic },
		"a payload left out":     func(m *message.Message) string { m.Metadata.Set("countersign-payload-7", "x"); return bus.Topic },
	} {
		m := mint(t, "agentd/test/1", 2)
		topic := change(m[1])
		require.ErrorIs(t, b.Publish(topic, m...), bus.ErrBadMessage, name)
	}
	require.Zero(t, j.Head().Row)
	require.NoError(t, b.Publish(bus.Topic), "to publish nothing is nothing")
}

func payloadsStored(t *testing.T, b Bus, j *journal.Journal) {
	payloads := []events.Payload{events.NewPayload([]byte("first\x00\xff")), events.NewPayload(nil)}
	m := mint(t, "agentd/test/1", 1)[0]
	m = bus.NewMessage(events.Minted{ID: m.UUID, Envelope: m.Payload, Payloads: payloads})
	require.NoError(t, b.Publish(bus.Topic, m))
	for _, p := range payloads {
		got, err := j.Payload(t.Context(), 0, m.UUID, p.Ref(events.MediaBin).Commitment)
		require.NoError(t, err)
		require.Equal(t, p.Salt, got.Salt)
		require.Equal(t, string(p.Bytes), string(got.Bytes))
	}
}

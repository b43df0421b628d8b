package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// The clauses of TestContract about what is delivered.

func fromTheEnd(t *testing.T, b Bus, _ *journal.Journal) {
	messages := mint(t, "agentd/test/1", 6)
	require.NoError(t, b.Publish(bus.Topic, messages[:3]...))
	in, err := b.Subscribe(t.Context(), bus.Topic)
	require.NoError(t, err)
	require.NoError(t, b.Publish(bus.Topic, messages[3:]...))
	require.Equal(t, ids(messages[3:]), ids(take(t, in, 3)))
}

func afterARow(t *testing.T, b Bus, _ *journal.Journal) {
	messages := mint(t, "agentd/test/1", 200) // more than a batch
	require.NoError(t, b.Publish(bus.Topic, messages...))
	for _, done := range []int{0, 1, 64, 199} {
		ctx, cancel := context.WithCancel(t.Context())
		first, err := b.SubscribeAfter(ctx, bus.Topic, 0)
		require.NoError(t, err)
		row := int64(0)
		for _, m := range take(t, first, done) {
			row = bus.Row(m)
		}
		cancel()
		again, err := b.SubscribeAfter(t.Context(), bus.Topic, row)
		require.NoError(t, err)
		require.Equal(t, ids(messages[done:]), ids(take(t, again, 200-done)), "after %d", done)
	}
}

func wakes(t *testing.T, b Bus, _ *journal.Journal) {
	one, err := b.Subscribe(t.Context(), bus.Topic)
	require.NoError(t, err)
	for i, m := range mint(t, "agentd/test/1", 100) {
		two, err := b.Subscribe(t.Context(), bus.Topic)
		require.NoError(t, err)
		require.NoError(t, b.Publish(bus.Topic, m))
		require.Equal(t, m.UUID, take(t, one, 1)[0].UUID, "message %d", i)
		require.Equal(t, m.UUID, take(t, two, 1)[0].UUID, "message %d, to a subscription just made", i)
	}
}

func comesAgain(t *testing.T, b Bus, _ *journal.Journal) {
	messages := mint(t, "agentd/test/1", 2)
	require.NoError(t, b.Publish(bus.Topic, messages...))
	in, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	for range 5 {
		m := next(t, in)
		require.Equal(t, messages[0].UUID, m.UUID)
		require.Equal(t, string(messages[0].Payload), string(m.Payload))
		m.Payload[0], m.Metadata["poisoned"] = 'X', "yes"
		require.True(t, m.Nack())
		<-m.Context().Done()
	}
	m := next(t, in)
	require.Equal(t, string(messages[0].Payload), string(m.Payload))
	require.Empty(t, m.Metadata["poisoned"])
	require.True(t, m.Ack())
	<-m.Context().Done()
	require.Equal(t, messages[1].UUID, next(t, in).UUID)
}

func slowSubscription(t *testing.T, b Bus, _ *journal.Journal) {
	messages := mint(t, "agentd/test/1", 500)
	slow, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	unread, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	quick, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	require.NoError(t, b.Publish(bus.Topic, messages[0]))
	held := next(t, slow)
	publishAtOnce(t, b, [][]*message.Message{messages[1:250], messages[250:]}, 1)

	take(t, quick, 500)
	select {
	case m := <-slow:
		require.Fail(t, "a second message before the first was acked", m.UUID)
	default:
	}
	require.True(t, held.Ack())
	take(t, slow, 499)
	take(t, unread, 500)
}

func malformedRecord(t *testing.T, b Bus, j *journal.Journal) {
	_, err := j.Append(t.Context(), journal.Ends, journal.Entry{ID: "x", Session: "s", Type: "y", Envelope: []byte("no event")})
	require.NoError(t, err)
	m := mint(t, "agentd/test/1", 1)[0]
	require.NoError(t, b.Publish(bus.Topic, m))
	in, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	got := take(t, in, 2)
	require.Equal(t, "0:0", got[0].UUID)
	require.Equal(t, "no event", string(got[0].Payload))
	require.Contains(t, bus.Malformed(got[0]), "envelope")
	require.Equal(t, m.UUID, got[1].UUID)
	require.Empty(t, bus.Malformed(got[1]))
}

func closedUnacked(t *testing.T, b Bus, j *journal.Journal) {
	messages := mint(t, "agentd/test/1", 3)
	require.NoError(t, b.Publish(bus.Topic, messages...))
	in, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
	require.NoError(t, err)
	last := take(t, in, 1)[0]
	unacked := next(t, in)
	require.NoError(t, b.Close())
	<-unacked.Context().Done()

	again := bus.NewEmbedded(j, bus.Options{})
	in, err = again.SubscribeAfter(t.Context(), bus.Topic, bus.Row(last))
	require.NoError(t, err)
	require.Equal(t, ids(messages[1:]), ids(take(t, in, 2)))
	require.NoError(t, again.Close())
}

func closed(t *testing.T, b Bus, _ *journal.Journal) {
	waiting, err := b.Subscribe(t.Context(), bus.Topic)
	require.NoError(t, err)
	m := mint(t, "agentd/test/1", 1)[0]
	require.NoError(t, b.Publish(bus.Topic, m))
	require.Equal(t, m.UUID, next(t, waiting).UUID)
	require.NoError(t, b.Close())
	_, open := <-waiting
	require.False(t, open)
	require.ErrorIs(t, b.Publish(bus.Topic, m), bus.ErrClosed)
	_, err = b.Subscribe(t.Context(), bus.Topic)
	require.ErrorIs(t, err, bus.ErrClosed)
	require.NoError(t, b.Close(), "a second time")
}

func contextEnds(t *testing.T, b Bus, _ *journal.Journal) {
	ctx, cancel := context.WithCancel(t.Context())
	in, err := b.Subscribe(ctx, bus.Topic)
	require.NoError(t, err)
	cancel()
	select {
	case _, open := <-in:
		require.False(t, open)
	case <-time.After(patience):
		require.Fail(t, "the subscription goes on")
	}
}

package bus_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// TestEmbeddedDurable: what Publish acknowledged is there after the file was
// closed and opened again, in the same order, and publishing goes on behind it.
func TestEmbeddedDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var published []string
	for life := range 3 {
		j, stop := run(t, journal.Options{Path: path})
		b := bus.NewEmbedded(j, bus.Options{})
		messages := mint(t, fmt.Sprintf("agentd/test/%d", life), 5)
		publishAtOnce(t, b, [][]*message.Message{messages}, 2)
		published = append(published, ids(messages)...)
		in, err := b.SubscribeAfter(t.Context(), bus.Topic, 0)
		require.NoError(t, err)
		require.Equal(t, published, ids(take(t, in, len(published))), "life %d", life)
		require.NoError(t, b.Close())
		stop()
		require.ErrorIs(t, b.Publish(bus.Topic, messages...), bus.ErrClosed)
	}
}

// TestNames: a bus says what it is, and memory what it is good for.
func TestNames(t *testing.T) {
	j, _ := run(t, journal.Options{Memory: true})
	require.Equal(t, "embedded", bus.NewEmbedded(j, bus.Options{}).String())
	require.Contains(t, bus.NewMemory(j, bus.Options{}).String(), "nothing survives the process")
}

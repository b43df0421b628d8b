package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/countersign-dev/countersign/internal/journal"
)

// Memory is Embedded over a journal in memory, behind a GoChannel: for tests,
// since nothing of it survives the process. By itself GoChannel reorders, and
// loses what is published without a subscriber or not acked at its close; so
// here it is the doorbell alone, and the journal is what is delivered.
type Memory struct {
	*Embedded
	bell *channelBell
}

// NewMemory returns a bus over a journal that was opened with Options.Memory
// and whose Run and Close stay with the caller: close the bus first.
func NewMemory(j *journal.Journal, o Options) *Memory {
	o = o.withDefaults()
	bell := newChannelBell(j, o.Logger)
	return &Memory{Embedded: newBus(j, o, bell), bell: bell}
}

// String names the bus in logs, and says what it is good for.
func (m *Memory) String() string { return "memory (for tests: nothing survives the process)" }

// Close ends all subscriptions and the doorbell, and waits for them.
func (m *Memory) Close() error {
	return errors.Join(m.Embedded.Close(), m.bell.close())
}

// channelBell rings through a GoChannel. One goroutine follows the journal and
// publishes a ring for what was appended since the last, however much it was.
// GoChannel blocks it until every subscription has heard, so that rings do not
// pile up; each has a goroutine that does nothing but hear.
type channelBell struct {
	journal *journal.Journal
	logger  *slog.Logger
	rings   *gochannel.GoChannel
	ctx     context.Context // of the ringer
	cancel  context.CancelFunc
	start   sync.Once
	running sync.WaitGroup // the ringer and the hearers
}

const (
	ring      = "ring" // the topic of the doorbell
	retryBell = time.Second
)

func newChannelBell(j *journal.Journal, logger *slog.Logger) *channelBell {
	ctx, cancel := context.WithCancel(context.Background())
	return &channelBell{
		journal: j, logger: logger, ctx: ctx, cancel: cancel,
		rings: gochannel.NewGoChannel(gochannel.Config{BlockPublishUntilSubscriberAck: true}, watermill.NopLogger{}),
	}
}

func (b *channelBell) listen(ctx context.Context) (waitFunc, error) {
	rings, err := b.rings.Subscribe(ctx, ring)
	if err != nil {
		return nil, fmt.Errorf("doorbell: %w", err)
	}
	heard := make(chan struct{}, 1)
	b.running.Go(func() {
		for m := range rings {
			m.Ack()
			select {
			case heard <- struct{}{}:
			default: // it has not looked since the last ring
			}
		}
	})
	b.start.Do(func() {
		row := b.journal.Head().Row // before the reader looks: what comes later rings
		b.running.Go(func() { b.follow(row) })
	})
	return func(ctx context.Context, _ int64) error {
		select {
		case <-heard:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, nil
}

// follow rings whenever the journal has grown beyond a row, until the bell is
// closed.
func (b *channelBell) follow(row int64) {
	for {
		head, err := b.journal.Wait(b.ctx, row)
		if err == nil {
			err = b.rings.Publish(ring, message.NewMessage(watermill.NewShortUUID(), nil))
		}
		if b.ctx.Err() != nil {
			return
		}
		if err != nil {
			b.logger.ErrorContext(b.ctx, "the doorbell of the bus failed; subscriptions are late", slog.Any("error", err))
			pause(b.ctx, retryBell)
			continue
		}
		row = head
	}
}

func (b *channelBell) close() error {
	b.cancel()
	err := b.rings.Close()
	b.running.Wait()
	return err
}

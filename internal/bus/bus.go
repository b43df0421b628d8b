// Package bus is how events get into the journal and out of it again, in
// Watermill's terms. It is the only package, besides cmd, that knows the
// broker.
//
// A bus is a message.Publisher and a message.Subscriber over a journal:
//
//   - [Embedded]: the journal is the log. A Publish is one append of all its
//     messages: durable when it returns, all of them or none.
//   - [Memory]: the same over a journal in memory, with Watermill's GoChannel
//     as the doorbell. Nothing of it survives the process.
//
// A subscription reads the journal from a row, and delivers in its order, one
// message at a time: the next comes when the last was acked; one that was
// nacked comes again, after a pause that grows. Nothing is kept in memory but
// one small batch, so a slow subscriber reads later and holds up nobody. What
// was not acked when a bus closes is still in the journal: subscribe again
// after the row of the last message that was (see [Row]).
//
//	b := bus.NewEmbedded(journal, bus.Options{Logger: log})
//	err := b.Publish(bus.Topic, bus.NewMessage(minted))
//	messages, err := b.SubscribeAfter(ctx, bus.Topic, row)
//	for m := range messages {
//		...
//		m.Ack()
//	}
//	err = b.Close()
//
// Handlers that want one message at a time (notifications, webhooks) subscribe
// here, through Watermill's Router if they like. What needs batches, above all
// every projection, reads the journal itself.
//
// [Producer] is the other way in, for what mints events: it gives them their
// sequence numbers and hands them to the journal in that order.
package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// Topic is the one topic of events.
const Topic = "events"

// What a bus refuses. Errors of the journal come as they are.
var (
	// ErrClosed: the bus takes nothing after Close.
	ErrClosed = errors.New("the bus is closed")
	// ErrBadMessage: what was published is not an event with its payloads.
	ErrBadMessage = errors.New("not a message of this bus")
)

// Options say how a bus behaves; the zero value is good.
type Options struct {
	// Codec says what messages are; nil: Events.
	Codec Codec
	// FromStart makes Subscribe begin at the first record of the journal. It
	// begins at the end otherwise: with what is appended after it was called.
	FromStart bool
	// FirstRetry is the pause before a nacked message comes again; it doubles
	// with each nack up to LastRetry. 0: 50 ms and 5 s.
	FirstRetry, LastRetry time.Duration
	Metrics               *Metrics     // nil: none
	Logger                *slog.Logger // nil: silence
}

func (o Options) withDefaults() Options {
	if o.Codec == nil {
		o.Codec = Events{}
	}
	if o.FirstRetry == 0 {
		o.FirstRetry = 50 * time.Millisecond
	}
	if o.LastRetry == 0 {
		o.LastRetry = 5 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Embedded is the bus of one machine: the journal is the log. Its methods may
// be called from any goroutine.
type Embedded struct {
	journal  *journal.Journal
	o        Options
	doorbell doorbell
	ctx      context.Context // of all subscriptions; ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup // subscriptions

	mu     sync.Mutex
	closed bool // guarded by mu; no Add to running after it
}

// NewEmbedded returns a bus over a journal, whose Run and Close stay with the
// caller: close the bus first.
func NewEmbedded(j *journal.Journal, o Options) *Embedded {
	return newBus(j, o, journalBell{journal: j})
}

func newBus(j *journal.Journal, o Options, d doorbell) *Embedded {
	ctx, cancel := context.WithCancel(context.Background())
	return &Embedded{journal: j, o: o.withDefaults(), doorbell: d, ctx: ctx, cancel: cancel}
}

// String names the bus in logs.
func (b *Embedded) String() string { return "embedded" }

// Publish appends all messages in one commit, next to each other, and returns
// when they are durable; after an error none is stored. A message that the
// journal has already, with the same bytes, is not stored again; other bytes
// under its id are journal.ErrConflict. The wait ends with the context of the
// first message; whether they are stored is not known then, and publishing them
// again tells.
func (b *Embedded) Publish(topic string, messages ...*message.Message) error {
	if b.isClosed() {
		return fmt.Errorf("publish to %s: %w", topic, ErrClosed)
	}
	if len(messages) == 0 {
		return nil
	}
	entries := make([]journal.Entry, len(messages))
	for i, m := range messages {
		e, err := b.o.Codec.Encode(topic, m)
		if err != nil {
			return fmt.Errorf("publish message %d of %d: %w", i+1, len(messages), err)
		}
		entries[i] = e
	}
	_, err := b.journal.Append(messages[0].Context(), classOf(entries), entries...)
	if b.o.Metrics.published(len(messages), err); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

// classOf is Begins if any of the entries begins work: an append is refused or
// taken as a whole.
func classOf(entries []journal.Entry) journal.Class {
	for _, e := range entries {
		if events.Type(e.Type).Begins() {
			return journal.Begins
		}
	}
	return journal.Ends
}

// Subscribe delivers what is appended to a topic from now on (with
// Options.FromStart: all that ever was). The channel is closed when ctx ends
// or the bus closes.
func (b *Embedded) Subscribe(ctx context.Context, topic string) (<-chan *message.Message, error) {
	if b.o.FromStart {
		return b.SubscribeAfter(ctx, topic, 0)
	}
	return b.SubscribeAfter(ctx, topic, b.journal.Head().Row)
}

// SubscribeAfter delivers what stands in a topic after a row of the journal,
// and then what is appended to it, as Subscribe does.
func (b *Embedded) SubscribeAfter(ctx context.Context, topic string, row int64) (<-chan *message.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fmt.Errorf("subscribe to %s: %w", topic, ErrClosed)
	}
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(b.ctx, cancel)
	wait, err := b.doorbell.listen(ctx)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("subscribe to %s: %w", topic, err)
	}
	s := &subscription{
		journal: b.journal, o: b.o, topic: topic, after: row, out: make(chan *message.Message), wait: wait,
	}
	b.running.Go(func() {
		defer unlink()
		defer cancel()
		s.run(ctx)
	})
	return s.out, nil
}

// Close ends all subscriptions and waits for them. It may be called again. A
// Publish that is under way is its caller's, and ends as it would have.
func (b *Embedded) Close() error {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.cancel()
	b.running.Wait()
	return nil
}

func (b *Embedded) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

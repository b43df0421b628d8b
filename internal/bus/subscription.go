package bus

import (
	"context"
	"log/slog"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/countersign-dev/countersign/internal/journal"
)

// batchRows is how many records a subscription holds in memory: at most 2 MiB.
const batchRows = 64

// subscription delivers one topic to one reader. All of it belongs to the
// goroutine of run.
type subscription struct {
	journal *journal.Journal
	o       Options
	topic   string
	after   int64 // the last row that is done with
	out     chan *message.Message
	wait    waitFunc
}

// run delivers until ctx ends. A failure to read is tried again: the journal
// has what is missing.
func (s *subscription) run(ctx context.Context) {
	defer close(s.out)
	retry := s.o.FirstRetry
	for ctx.Err() == nil {
		n, err := s.step(ctx)
		if err == nil && n == 0 {
			err = s.wait(ctx, s.after)
		}
		if err == nil {
			retry = s.o.FirstRetry
			continue
		}
		if ctx.Err() == nil {
			s.o.Logger.ErrorContext(ctx, "a subscription cannot read the journal; it will try again",
				slog.String("topic", s.topic), slog.Int64("after_row", s.after), slog.Any("error", err))
		}
		pause(ctx, retry)
		retry = min(2*retry, s.o.LastRetry)
	}
}

// step delivers one batch, and returns how many rows it had.
func (s *subscription) step(ctx context.Context) (int, error) {
	batch, err := s.journal.Read(ctx, s.after, batchRows)
	if err != nil {
		return 0, err
	}
	for _, stored := range batch {
		if !s.deliver(ctx, stored) {
			return 0, ctx.Err()
		}
		s.after = stored.Row
	}
	return len(batch), nil
}

// deliver offers a record until it is acked. It returns false when ctx ended
// first. Every offer is a fresh message, of which the last reader kept nothing.
func (s *subscription) deliver(ctx context.Context, stored journal.Stored) bool {
	for retry := s.o.FirstRetry; ; retry = min(2*retry, s.o.LastRetry) {
		topic, m := s.o.Codec.Decode(stored)
		if topic != s.topic {
			return true
		}
		if s.offer(ctx, m) {
			return true
		}
		if pause(ctx, retry); ctx.Err() != nil {
			return false
		}
	}
}

// offer hands a message over and reports whether it was acked. The message's
// context ends with its ack or nack, or with ctx.
func (s *subscription) offer(ctx context.Context, m *message.Message) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.SetContext(ctx)
	select {
	case s.out <- m:
	case <-ctx.Done():
		return false
	}
	select {
	case <-m.Acked():
		s.o.Metrics.consumed(true)
		return true
	case <-m.Nacked():
		s.o.Metrics.consumed(false)
		return false
	case <-ctx.Done():
		return false
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

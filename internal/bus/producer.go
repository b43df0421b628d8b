package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// ErrAltered is an alarm: the log holds bytes that are not those which the
// reference names. Somebody changed one or the other.
var ErrAltered = errors.New("the stored payload is not the one that the reference names")

// ProducerOptions are what a producer is made of.
type ProducerOptions struct {
	Journal *journal.Journal // required; its Run and Close stay with the caller
	// Source is the envelopes' source, one for each boot:
	// "agentd/NODE/BOOT". Required: sequences count from 0 in each.
	Source  string
	Clock   func() time.Time // events' time; nil: time.Now
	Metrics *Metrics         // nil: none
	Logger  *slog.Logger     // nil: silence
}

// Producer mints events and appends them, and reads them back. A process has
// one for each source. Its methods may be called from any goroutine.
//
// Sequence numbers of a session stand in the log in their order, without gaps
// as long as the log takes what it admitted: a gap means that an event was
// minted and then not stored (the disk was full, the log stopped, or the caller
// gave up while it waited), and nothing else.
type Producer struct {
	journal *journal.Journal
	metrics *Metrics
	logger  *slog.Logger

	mu     sync.Mutex     // over minting and queueing, never over a commit
	minter *events.Minter // guarded by mu
}

// NewProducer returns a producer. It starts nothing.
func NewProducer(o ProducerOptions) *Producer {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Producer{journal: o.Journal, metrics: o.Metrics, logger: o.Logger, minter: events.NewMinter(o.Source, o.Clock)}
}

// Now returns the log's time, in which deadlines stand.
func (p *Producer) Now() time.Time { return p.journal.Now() }

// Append mints the drafts and makes them durable in one commit, in order, all
// or none. An append that begins work (events.Begins of any draft) gets
// events.ErrRefused at once when its share of queue or disk is full, whatever
// else is in it; one that only ends work waits for room. After
// events.ErrLogStopped nothing is taken until the next start, and what gets
// events.ErrUnrecordable never is. When ctx ends
// first it is not known whether the events are stored; they come back through
// the log if they are.
//
// From of a draft is called under the producer's lock: it must not append.
func (p *Producer) Append(ctx context.Context, drafts ...events.Draft) (events.Appended, error) {
	if len(drafts) == 0 {
		return events.Appended{}, errors.New("append: no events")
	}
	appended, err := p.append(ctx, drafts)
	p.metrics.published(len(drafts), err)
	return appended, logError(err)
}

func (p *Producer) append(ctx context.Context, drafts []events.Draft) (events.Appended, error) {
	minted, slot, err := p.queue(ctx, drafts)
	if err != nil {
		return events.Appended{}, err
	}
	stored, err := slot.Wait()
	if err != nil {
		return events.Appended{}, err
	}
	return events.Appended{Events: minted, Row: stored[len(stored)-1].Row}, nil
}

// queue mints the drafts and puts them into the journal's queue. Room is
// reserved before a number is given, so that what is refused leaves no gap.
func (p *Producer) queue(ctx context.Context, drafts []events.Draft) ([]events.Minted, *journal.Slot, error) {
	class, size := measure(drafts)
	p.mu.Lock()
	defer p.mu.Unlock()
	slot, err := p.journal.TryReserve(ctx, class, len(drafts), size)
	if errors.Is(err, journal.ErrOverloaded) && class == journal.Ends {
		p.mu.Unlock() // others need not wait as well
		slot, err = p.journal.Reserve(ctx, class, len(drafts), size)
		p.mu.Lock()
	}
	if err != nil {
		return nil, nil, err
	}
	minted, err := p.minter.Mint(drafts...)
	if err != nil {
		slot.Release()
		return nil, nil, err
	}
	return minted, slot, slot.Put(entriesOf(minted)...)
}

// measure returns the class of an append, and the most bytes that its events
// can have.
func measure(drafts []events.Draft) (journal.Class, int64) {
	class, size := journal.Ends, int64(0)
	if events.Begins(drafts...) {
		class = journal.Begins
	}
	for _, d := range drafts {
		size += events.MaxEnvelopeBytes
		for _, payload := range d.Payloads {
			size += int64(len(payload.Bytes))
		}
	}
	return class, size
}

func entriesOf(minted []events.Minted) []journal.Entry {
	entries := make([]journal.Entry, len(minted))
	for i, m := range minted {
		entries[i] = journal.Entry{
			ID: m.ID, Session: m.Session, Type: string(m.Type), Envelope: m.Envelope, Payloads: m.Payloads,
		}
	}
	return entries
}

// Read returns up to limit entries after a row, in order; none at the end.
func (p *Producer) Read(ctx context.Context, after int64, limit int) ([]events.Entry, error) {
	return entries(p.journal.Read(ctx, after, limit))
}

// Session is Read for one session; "" is that of events of no session.
func (p *Producer) Session(ctx context.Context, session string, after int64, limit int) ([]events.Entry, error) {
	return entries(p.journal.ReadSession(ctx, session, after, limit))
}

// Head returns how many records the log has.
func (p *Producer) Head() uint64 { return uint64(max(p.journal.Head().Row, 0)) }

// Wait returns nil when there is an entry after the row, or the error of ctx.
func (p *Producer) Wait(ctx context.Context, after int64) error {
	_, err := p.journal.Wait(ctx, after)
	return err
}

// Payload returns the bytes that a reference names. They are carried by the
// event that the reference tells of, or else by the event that it stands in,
// whose id is carrier. events.ErrNoPayload if they are not there or were
// erased; ErrAltered, and an alarm in the log, if they are others.
func (p *Producer) Payload(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error) {
	if ref == nil {
		return nil, fmt.Errorf("payload of event %.80q: %w: no reference", carrier, events.ErrNoPayload)
	}
	id := cmp.Or(ref.In, carrier)
	payload, err := p.journal.Payload(ctx, 0, id, ref.Commitment)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return nil, p.alarm(ctx, id, fmt.Errorf("%w: %w", ErrAltered, err))
	case errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrErased):
		return nil, fmt.Errorf("%w: %w", events.ErrNoPayload, err)
	case err != nil:
		return nil, err
	case !payload.Opens(*ref):
		return nil, p.alarm(ctx, id, fmt.Errorf("payload %.16s of event %.80q: %w: it has %d bytes, the reference says %d",
			ref.Commitment, id, ErrAltered, len(payload.Bytes), ref.Bytes))
	}
	return payload.Bytes, nil
}

func (p *Producer) alarm(ctx context.Context, id string, err error) error {
	p.logger.ErrorContext(ctx, "a payload was altered: compare the journal with a backup and its exports",
		slog.String("event", id), slog.Any("error", err))
	return err
}

func entries(stored []journal.Stored, err error) ([]events.Entry, error) {
	if err != nil {
		return nil, err
	}
	out := make([]events.Entry, len(stored))
	for i, s := range stored {
		out[i] = events.Entry{Row: s.Row, Record: s.Record}
	}
	return out, nil
}

// logError says of an error of the journal what package events calls it.
func logError(err error) error {
	switch {
	case errors.Is(err, journal.ErrReadOnly):
		return fmt.Errorf("%w: %w", events.ErrReadOnly, err)
	case errors.Is(err, journal.ErrStopped): // for want of room, it may be
		return fmt.Errorf("%w: %w", events.ErrLogStopped, err)
	case errors.Is(err, journal.ErrOverloaded) || errors.Is(err, journal.ErrDiskFull):
		return fmt.Errorf("%w: %w", events.ErrRefused, err)
	case errors.Is(err, journal.ErrTooLarge):
		return fmt.Errorf("%w: %w", events.ErrUnrecordable, err)
	default:
		return err
	}
}

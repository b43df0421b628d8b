package journal

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Class says what becomes of an entry when room is short.
type Class uint8

// Begins is for what begins work (a call, a request, a start, a run): it is
// refused at once when its share of the queue or of the disk is full. Ends is
// for what ends work (a result, a decision, a time-out): room is kept for it,
// it waits, and it is tried again.
const (
	Begins Class = iota + 1
	Ends
)

// maxPayloads is how many payloads one event can have: their ordinal is the
// low byte of their place.
const maxPayloads = 256

// Entry is one minted event to append.
type Entry struct {
	Partition uint32
	ID        string // unique in its partition; at most events.MaxNameBytes
	Session   string // as ID; "": the entry belongs to no session
	Type      string // names the event in errors and logs
	Envelope  []byte // at most events.MaxEnvelopeBytes; stored as it is
	Payloads  []events.Payload
	KeyID     string
	Signature []byte
	LogTime   int64 // microseconds since 1970 UTC; 0: the writer's clock
}

// Stored is a record in the journal.
type Stored struct {
	Row       int64 // local to this journal: 1, 2, 3, ...
	Record    events.Record
	Session   string
	Duplicate bool // from Append: it was there already, with the same bytes
}

// request is what one call of Append wants. Between put and done it belongs to
// the writer.
type request struct {
	ctx     context.Context
	class   Class
	entries []prepared
	weight  int64
	began   time.Time
	stored  []Stored
	err     error
	done    chan struct{} // closed when stored or err is set
}

// prepared is an entry with what can be worked out before the writer has it.
type prepared struct {
	Entry
	id          any // as stored
	commitments [][]byte
}

// entryWeight is the least that an entry weighs in the queue, so that a bound
// in bytes also bounds the number of entries.
const entryWeight = 2 << 10

func newRequest(ctx context.Context, class Class, entries []Entry) (*request, error) {
	if class != Begins && class != Ends {
		return nil, fmt.Errorf("append: class %d is neither Begins nor Ends", class)
	}
	r := &request{
		ctx: ctx, class: class, began: time.Now(), done: make(chan struct{}),
		entries: make([]prepared, 0, len(entries)),
		stored:  make([]Stored, len(entries)),
	}
	for _, e := range entries {
		p, bytes, err := prepare(e)
		if err != nil {
			return nil, fmt.Errorf("append %s %.80q: %w", e.Type, e.ID, err)
		}
		r.entries = append(r.entries, p)
		r.weight += max(bytes, entryWeight)
	}
	return r, nil
}

// prepare checks an entry's bounds and hashes its payloads. It returns the
// number of bytes that the entry holds.
func prepare(e Entry) (prepared, int64, error) {
	p := prepared{Entry: e, id: pack(e.ID)}
	if err := checkBounds(e); err != nil {
		return p, 0, err
	}
	total := len(e.Envelope)
	for _, payload := range e.Payloads {
		total += len(payload.Bytes)
		c, err := hex.DecodeString(events.Commitment(payload.Salt, payload.Bytes))
		if err != nil {
			return p, 0, err
		}
		p.commitments = append(p.commitments, c)
	}
	if total > events.MaxEventBytes {
		return p, 0, fmt.Errorf("%w: it has %d bytes with its payloads, at most %d are allowed", ErrTooLarge, total, events.MaxEventBytes)
	}
	return p, int64(total), nil
}

// checkBounds refuses what could not be stored or encoded. It must refuse all
// of that: what fails in the writer ends it.
func checkBounds(e Entry) error {
	for _, part := range []struct {
		name             string
		has, least, most int
	}{
		{"id", len(e.ID), 1, events.MaxNameBytes},
		{"session", len(e.Session), 0, events.MaxNameBytes},
		{"key id", len(e.KeyID), 0, events.MaxNameBytes},
		{"signature", len(e.Signature), 0, math.MaxUint16},
		{"envelope", len(e.Envelope), 0, events.MaxEnvelopeBytes},
		{"list of payloads", len(e.Payloads), 0, maxPayloads},
	} {
		if part.has < part.least || part.has > part.most {
			return fmt.Errorf("%w: its %s has length %d, not %d to %d", ErrTooLarge, part.name, part.has, part.least, part.most)
		}
	}
	return nil
}

func (r *request) answer(err error) {
	if err != nil {
		r.err, r.stored = err, nil
	}
	close(r.done)
}

package events

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// Draft is an event before it is minted.
type Draft struct {
	// ID is the event's id, from NewID where an earlier draft of the same
	// append must name it; "" mints one.
	ID      string
	Session string // "" for events of no session
	Data    Event
	// From is set in place of Data where the data depends on the bytes of
	// events minted just before in the same append.
	From func(earlier []Minted) (Event, error)
	// Payloads are those that references of Data without "in" name.
	Payloads    []Payload
	Causation   string // the id of the event that this answers
	TraceParent string
}

// Minted is an event in its final bytes.
type Minted struct {
	ID       string
	Session  string
	Type     Type
	Time     Time
	Envelope []byte
	Payloads []Payload
}

// Digest is what decisions and starts name as request_digest.
func (m Minted) Digest() Digest { return DigestOf(m.Envelope) }

// Minter gives events their ids, times, sequence numbers and bytes. It is not
// safe for concurrent use: its owner holds one lock over minting and handing to
// the log, so that sequence and log agree.
type Minter struct {
	source string
	now    func() time.Time
	next   map[string]uint64 // by session; grows with the sessions of one boot
}

// NewMinter returns a minter for one source and boot.
func NewMinter(source string, now func() time.Time) *Minter {
	return &Minter{source: source, now: now, next: map[string]uint64{}}
}

// NewID returns a fresh event id, a UUIDv7 (RFC 9562).
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// NewRequestID returns a fresh request id, a UUIDv4: 122 random bits, so that
// nobody guesses one.
func NewRequestID() string { return uuid.Must(uuid.NewRandom()).String() }

// Mint encodes drafts, in order, all or none: after an error, which is always
// ErrUnrecordable, no sequence number is used.
func (m *Minter) Mint(drafts ...Draft) ([]Minted, error) {
	minted := make([]Minted, 0, len(drafts))
	used := map[string]uint64{}
	for i, d := range drafts {
		one, err := m.mint(d, minted, m.next[d.Session]+used[d.Session])
		if err != nil {
			return nil, fmt.Errorf("mint event %d of %d: %w: %w", i+1, len(drafts), ErrUnrecordable, err)
		}
		used[d.Session]++
		minted = append(minted, one)
	}
	for s, n := range used {
		m.next[s] += n
	}
	return minted, nil
}

func (m *Minter) mint(d Draft, earlier []Minted, sequence uint64) (Minted, error) {
	data := d.Data
	if d.From != nil {
		var err error
		if data, err = d.From(earlier); err != nil {
			return Minted{}, err
		}
	}
	if err := check(data); err != nil {
		return Minted{}, fmt.Errorf("%T: %w", data, err)
	}
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return Minted{}, fmt.Errorf("%s: %w", data.Type(), err)
	}
	if d.ID == "" {
		d.ID = NewID()
	}
	e := m.envelope(d, data, sequence)
	e.Data = raw
	if err := e.check(); err != nil {
		return Minted{}, fmt.Errorf("%s: %w", data.Type(), err)
	}
	b, err := json.Marshal(e)
	if err != nil {
		return Minted{}, fmt.Errorf("%s: %w", data.Type(), err)
	}
	out := Minted{ID: d.ID, Session: d.Session, Type: data.Type(), Time: e.Time, Envelope: b, Payloads: d.Payloads}
	return out, checkSize(out)
}

func (m *Minter) envelope(d Draft, data Event, sequence uint64) Envelope {
	key := d.Session
	if key == "" {
		key = m.source
	}
	return Envelope{
		SpecVersion: SpecVersion, ID: d.ID, Source: m.source, Type: data.Type(), Subject: subject(data), Time: At(m.now()),
		DataSchema: SchemaPath(data.Type(), versionOf(data)), SessionID: d.Session, PartitionKey: key,
		Sequence: strconv.FormatUint(sequence, 10), CausationID: d.Causation, Critical: critical(data),
		TraceParent: d.TraceParent,
	}
}

func checkSize(m Minted) error {
	if len(m.Envelope) > MaxEnvelopeBytes {
		return fmt.Errorf("%s: an envelope of %d bytes, the bound is %d", m.Type, len(m.Envelope), MaxEnvelopeBytes)
	}
	total := len(m.Envelope)
	for _, p := range m.Payloads {
		total += len(p.Bytes)
	}
	if total > MaxEventBytes {
		return fmt.Errorf("%s: %d bytes with its payloads, the bound is %d", m.Type, total, MaxEventBytes)
	}
	return nil
}

// subject says what an event is about, in the CloudEvents attribute.
func subject(e Event) string {
	switch e := e.(type) {
	case interface{ Key() CallKey }:
		return e.Key().String()
	case *Revision:
		return e.RequestID
	case *Decision:
		return e.RequestID
	case *Revocation:
		return e.RequestID
	case *RunStarted:
		return e.RunID
	case *RunCancelled:
		return e.RunID
	case *RunFinished:
		return e.RunID
	case *Definition:
		return string(e.Digest)
	default:
		return ""
	}
}

// Key returns the call key itself; events that embed it are about that call.
func (k CallKey) Key() CallKey { return k }

// String returns "batch/index".
func (k CallKey) String() string { return k.BatchID + "/" + strconv.Itoa(k.Index) }

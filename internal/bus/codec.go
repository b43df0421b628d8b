package bus

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// The metadata of messages. Values of payloads are raw bytes: 32 of salt, then
// the payload's own. (Metadata is a Go string, and a header of bytes on Kafka.)
const (
	metaPayload   = "countersign-payload-" // and the ordinal; on what is published
	metaRow       = "countersign-row"      // on what is delivered
	metaPosition  = "countersign-position" // "partition:offset"; on what is delivered
	metaLogTime   = "countersign-log-time" // microseconds since 1970; on what is delivered
	metaMalformed = "countersign-malformed"
)

// Codec says what the messages of a bus are.
type Codec interface {
	// Encode returns what to append for a message. The bytes of the envelope
	// are the message's own, untouched until the append has ended.
	Encode(topic string, m *message.Message) (journal.Entry, error)
	// Decode returns a fresh message for a record, which shares no memory with
	// it, and the topic that it stands in. It never fails: a record that cannot
	// be read is a message too, or it would hold up all behind it.
	Decode(stored journal.Stored) (topic string, m *message.Message)
}

// Events is the codec of minted events: a message's UUID is the event's id,
// its payload the envelope, byte for byte. Payloads travel in the metadata of
// what is published, and not in what is delivered: ask Producer.Payload for
// those that are needed. Other metadata is not kept.
type Events struct{}

// NewMessage returns the message that publishes an event.
func NewMessage(e events.Minted) *message.Message {
	m := message.NewMessage(e.ID, e.Envelope)
	for i, p := range e.Payloads {
		m.Metadata.Set(metaPayload+strconv.Itoa(i), string(p.Salt[:])+string(p.Bytes))
	}
	return m
}

// Row returns the row of a message that was delivered: the position after
// which to subscribe again. It is 0 for other messages.
func Row(m *message.Message) int64 {
	row, err := strconv.ParseInt(m.Metadata.Get(metaRow), 10, 64)
	if err != nil {
		return 0
	}
	return row
}

// Malformed returns why the record of a delivered message is no event, or "".
func Malformed(m *message.Message) string { return m.Metadata.Get(metaMalformed) }

// Encode reads the envelope for its id, session and type. Errors are
// ErrBadMessage.
func (Events) Encode(topic string, m *message.Message) (journal.Entry, error) {
	if topic != Topic {
		return journal.Entry{}, fmt.Errorf("%w: topic %.80q, events go to %q", ErrBadMessage, topic, Topic)
	}
	e, err := events.DecodeEnvelope(m.Payload)
	if err != nil {
		return journal.Entry{}, fmt.Errorf("%w: message %.80q: %w", ErrBadMessage, m.UUID, err)
	}
	if m.UUID != e.ID {
		return journal.Entry{}, fmt.Errorf("%w: message %.80q carries event %.80q; its UUID must be the event's id", ErrBadMessage, m.UUID, e.ID)
	}
	payloads, err := payloadsOf(m)
	if err != nil {
		return journal.Entry{}, fmt.Errorf("%w: message %.80q: %w", ErrBadMessage, m.UUID, err)
	}
	return journal.Entry{
		ID: e.ID, Session: e.SessionID, Type: string(e.Type), Envelope: m.Payload, Payloads: payloads,
	}, nil
}

// payloadsOf reads the payloads beside an event, which are numbered from 0.
func payloadsOf(m *message.Message) ([]events.Payload, error) {
	n := 0
	for key := range m.Metadata {
		if strings.HasPrefix(key, metaPayload) {
			n++
		}
	}
	payloads := make([]events.Payload, n)
	for i := range payloads {
		key := metaPayload + strconv.Itoa(i)
		value, ok := m.Metadata[key]
		if !ok {
			return nil, fmt.Errorf("it has %d payloads, but no %s", n, key)
		}
		if copy(payloads[i].Salt[:], value) < len(payloads[i].Salt) {
			return nil, fmt.Errorf("%s has %d bytes, less than its salt", key, len(value))
		}
		payloads[i].Bytes = []byte(value[len(payloads[i].Salt):])
	}
	return payloads, nil
}

// Decode returns the event of a record. What is no event gets its position as
// UUID, and the reason for Malformed.
func (Events) Decode(stored journal.Stored) (string, *message.Message) {
	position := stored.Record.Position()
	m := message.NewMessage(position.String(), bytes.Clone(stored.Record.Envelope))
	m.Metadata.Set(metaRow, strconv.FormatInt(stored.Row, 10))
	m.Metadata.Set(metaPosition, position.String())
	m.Metadata.Set(metaLogTime, strconv.FormatInt(position.LogTime, 10))
	e, err := events.DecodeEnvelope(stored.Record.Envelope)
	if err != nil {
		m.Metadata.Set(metaMalformed, err.Error())
		return Topic, m
	}
	m.UUID = e.ID
	return Topic, m
}

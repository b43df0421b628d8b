package events

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// RecordVersion is the version that EncodeRecord writes.
const RecordVersion = 1

// The bounds of a record and of one event with its payloads, the same on every
// bus.
const (
	MaxEnvelopeBytes = 32 << 10  // an envelope
	MaxEventBytes    = 900 << 10 // an envelope with its payloads
	MaxNameBytes     = 256       // a name or an id
)

// ErrBadRecord is the class of errors of DecodeRecord.
var ErrBadRecord = errors.New("not a record")

// Record is what is sealed and what folds read: an envelope at its place in
// the log. Its encoded form is one blob, and that blob is a leaf of the Merkle
// tree of its partition (RFC 6962, section 2.1).
type Record struct {
	Partition uint32
	Offset    uint64 // 0 is the first of a partition; contiguous
	LogTime   int64  // microseconds since 1970 UTC; never less than the one before in the partition
	KeyID     string // the signing key; "" on embedded and memory
	Signature []byte // over the envelope; empty on embedded and memory
	Envelope  []byte // the producer's bytes; nothing re-encodes them
}

// Position is a record's place, in the form that all nodes share and that is
// shown and used as a cursor. Positions order by log time, then partition,
// then offset; within a partition that is the order of offsets.
type Position struct {
	LogTime   int64  `json:"log_time"` // microseconds since 1970 UTC
	Partition uint32 `json:"partition"`
	Offset    uint64 `json:"offset"`
}

// Position returns the record's place.
func (r Record) Position() Position {
	return Position{LogTime: r.LogTime, Partition: r.Partition, Offset: r.Offset}
}

// Compare returns -1, 0 or 1 as p is before, at or after q.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		cmp.Compare(p.LogTime, q.LogTime),
		cmp.Compare(p.Partition, q.Partition),
		cmp.Compare(p.Offset, q.Offset),
	)
}

// String returns the form "partition:offset".
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Partition, p.Offset) }

// recordHead is the fixed part of an encoded record:
// version u8 | partition u32 | offset u64 | log time i64, big endian, followed
// by key id (u16 length), signature (u16 length), envelope (u32 length).
const recordHead = 1 + 4 + 8 + 8

// EncodeRecord returns the bytes that are stored and sealed.
func EncodeRecord(r Record) ([]byte, error) {
	if len(r.KeyID) > MaxNameBytes || len(r.Signature) > math.MaxUint16 || len(r.Envelope) > MaxEnvelopeBytes {
		return nil, fmt.Errorf("record %s: a part is beyond its bound (key id %d of %d bytes, signature %d of %d, envelope %d of %d)",
			r.Position(), len(r.KeyID), MaxNameBytes, len(r.Signature), math.MaxUint16, len(r.Envelope), MaxEnvelopeBytes)
	}
	b := make([]byte, 0, recordHead+2+len(r.KeyID)+2+len(r.Signature)+4+len(r.Envelope))
	b = append(b, RecordVersion)
	b = binary.BigEndian.AppendUint32(b, r.Partition)
	b = binary.BigEndian.AppendUint64(b, r.Offset)
	b = binary.BigEndian.AppendUint64(b, uint64(r.LogTime))    //nolint:gosec // two's complement on the wire
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.KeyID))) //nolint:gosec // bounded above
	b = append(b, r.KeyID...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Signature))) //nolint:gosec // bounded above
	b = append(b, r.Signature...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(r.Envelope))) //nolint:gosec // bounded above
	return append(b, r.Envelope...), nil
}

// DecodeRecord reads what EncodeRecord wrote. It refuses another version, a
// cut, and trailing bytes. The result shares memory with b.
func DecodeRecord(b []byte) (Record, error) {
	if len(b) == 0 {
		return Record{}, fmt.Errorf("%w: empty", ErrBadRecord)
	}
	if b[0] != RecordVersion {
		return Record{}, fmt.Errorf("%w: version %d, this build reads %d", ErrBadRecord, b[0], RecordVersion)
	}
	if len(b) < recordHead {
		return Record{}, fmt.Errorf("%w: cut after %d bytes", ErrBadRecord, len(b))
	}
	r := Record{
		Partition: binary.BigEndian.Uint32(b[1:]),
		Offset:    binary.BigEndian.Uint64(b[5:]),
		LogTime:   int64(binary.BigEndian.Uint64(b[13:])), //nolint:gosec // two's complement on the wire
	}
	rest := b[recordHead:]
	keyID, rest, ok1 := cut(rest, 2)
	signature, rest, ok2 := cut(rest, 2)
	envelope, rest, ok3 := cut(rest, 4)
	if !ok1 || !ok2 || !ok3 || len(rest) != 0 {
		return Record{}, fmt.Errorf("%w: its lengths do not add up to %d bytes", ErrBadRecord, len(b))
	}
	if len(keyID) > MaxNameBytes || len(envelope) > MaxEnvelopeBytes {
		return Record{}, fmt.Errorf("%w: key id or envelope beyond its bound", ErrBadRecord)
	}
	r.KeyID, r.Signature, r.Envelope = string(keyID), signature, envelope
	return r, nil
}

// cut takes a field with a length prefix of the given width off b.
func cut(b []byte, width int) (field, rest []byte, ok bool) {
	if len(b) < width {
		return nil, nil, false
	}
	var n uint64 // an int has 32 bits on some machines
	for _, c := range b[:width] {
		n = n<<8 | uint64(c)
	}
	b = b[width:]
	if n > uint64(len(b)) {
		return nil, nil, false
	}
	if n == 0 {
		return nil, b, true
	}
	return b[:n:n], b[n:], true
}

// Equal reports whether two records are the same.
func (r Record) Equal(o Record) bool {
	return r.Position() == o.Position() && r.KeyID == o.KeyID &&
		bytes.Equal(r.Signature, o.Signature) && bytes.Equal(r.Envelope, o.Envelope)
}

package events_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
)

func TestRecordsRoundTrip(t *testing.T) {
	for _, r := range []events.Record{
		{},
		{Partition: math.MaxUint32, Offset: math.MaxUint64, LogTime: math.MaxInt64},
		{LogTime: math.MinInt64, Envelope: []byte("{}")},
		{KeyID: strings.Repeat("k", events.MaxNameBytes), Signature: bytes.Repeat([]byte{1}, math.MaxUint16)},
		{Envelope: bytes.Repeat([]byte{'x'}, events.MaxEnvelopeBytes)},
	} {
		b, err := events.EncodeRecord(r)
		require.NoError(t, err)
		got, err := events.DecodeRecord(b)
		require.NoError(t, err)
		require.Equal(t, r, got)
		require.True(t, r.Equal(got))
	}
}

func TestRecordsBeyondTheirBounds(t *testing.T) {
	for name, r := range map[string]events.Record{
		"key id":    {KeyID: strings.Repeat("k", events.MaxNameBytes+1)},
		"signature": {Signature: make([]byte, math.MaxUint16+1)},
		"envelope":  {Envelope: make([]byte, events.MaxEnvelopeBytes+1)},
	} {
		_, err := events.EncodeRecord(r)
		require.ErrorContains(t, err, "beyond its bound", name)
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	good, err := events.EncodeRecord(events.Record{KeyID: "k", Signature: []byte("s"), Envelope: []byte("{}")})
	require.NoError(t, err)
	for name, b := range map[string][]byte{
		"nothing":                  nil,
		"version 0":                append([]byte{0}, good[1:]...),
		"a later version":          append([]byte{2}, good[1:]...),
		"a byte more":              append(slices.Clone(good), 0),
		"two records":              append(slices.Clone(good), good...),
		"text":                     []byte(`{"specversion":"1.0"}`),
		"a key id of 257 bytes":    slices.Concat(make1(21), []byte{1, 1}, make([]byte, 257), []byte{0, 0, 0, 0, 0, 0}),
		"a length beyond the end":  slices.Concat(make1(21), []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, []byte("{}")),
		"an envelope beyond bound": slices.Concat(make1(21), []byte{0, 0, 0, 0, 0, 0, 0x80, 1}, make([]byte, 32769)),
	} {
		_, err := events.DecodeRecord(b)
		require.ErrorIs(t, err, events.ErrBadRecord, name)
	}
	for i := range good {
		_, err := events.DecodeRecord(good[:i])
		require.ErrorIs(t, err, events.ErrBadRecord, "cut after %d bytes", i)
	}
}

// make1 returns the fixed part of a record of version 1.
func make1(n int) []byte {
	b := make([]byte, n)
	b[0] = 1
	return b
}

func TestRecordsDiffer(t *testing.T) {
	r := events.Record{Partition: 1, Offset: 2, LogTime: 3, KeyID: "k", Signature: []byte("s"), Envelope: []byte("e")}
	for name, change := range map[string]func(*events.Record){
		"partition": func(r *events.Record) { r.Partition++ },
		"offset":    func(r *events.Record) { r.Offset++ },
		"log time":  func(r *events.Record) { r.LogTime++ },
		"key id":    func(r *events.Record) { r.KeyID = "" },
		"signature": func(r *events.Record) { r.Signature = nil },
		"envelope":  func(r *events.Record) { r.Envelope = []byte("E") },
	} {
		other := r
		change(&other)
		require.False(t, r.Equal(other), name)
		a, err := events.EncodeRecord(r)
		require.NoError(t, err)
		b, err := events.EncodeRecord(other)
		require.NoError(t, err)
		require.NotEqual(t, a, b, name)
	}
}

// Positions are totally ordered: by log time, then partition, then offset.
// Because log time never goes back within a partition, offsets order it.
func TestPositionOrder(t *testing.T) {
	position := rapid.Custom(func(t *rapid.T) events.Position {
		return events.Position{
			LogTime:   rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64()).Draw(t, "log time"),
			Partition: rapid.OneOf(rapid.Uint32Range(0, 2), rapid.Uint32()).Draw(t, "partition"),
			Offset:    rapid.OneOf(rapid.Uint64Range(0, 2), rapid.Uint64()).Draw(t, "offset"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		p, q, r := position.Draw(t, "p"), position.Draw(t, "q"), position.Draw(t, "r")
		require.Equal(t, p.Compare(q), -q.Compare(p))
		require.Equal(t, p == q, p.Compare(q) == 0)
		if p.Compare(q) <= 0 && q.Compare(r) <= 0 {
			require.LessOrEqual(t, p.Compare(r), 0)
		}
		switch {
		case p.LogTime != q.LogTime:
			require.Equal(t, p.LogTime < q.LogTime, p.Compare(q) < 0)
		case p.Partition != q.Partition:
			require.Equal(t, p.Partition < q.Partition, p.Compare(q) < 0)
		default:
			require.Equal(t, p.Offset < q.Offset, p.Compare(q) < 0)
		}
	})
	require.Equal(t, "7:42", events.Position{LogTime: 1, Partition: 7, Offset: 42}.String())
	require.Equal(t, events.Position{LogTime: 1, Partition: 7, Offset: 42}, events.Record{LogTime: 1, Partition: 7, Offset: 42}.Position())
}

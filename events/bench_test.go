package events_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

// Decoding an event whole: the envelope, its data, and every check.
func BenchmarkDecode(b *testing.B) {
	for _, typ := range []events.Type{events.TypeToolCall, events.TypeDecision, events.TypeRoundFinished} {
		envelope := mintSample(b, typ).Envelope
		b.Run(string(typ), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := decode(envelope)
				require.NoError(b, err)
			}
		})
	}
}

// Minting an event whose payloads are salted and referred to already.
func BenchmarkMint(b *testing.B) {
	for _, typ := range []events.Type{events.TypeToolCall, events.TypeDecision, events.TypeRoundFinished} {
		m, draft := events.NewMinter(source, time.Now), eventstest.Sample(typ)
		b.Run(string(typ), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := m.Mint(draft)
				require.NoError(b, err)
			}
		})
	}
}

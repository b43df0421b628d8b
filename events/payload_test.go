package events_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
)

// Whatever is changed of a payload, its reference no longer opens.
func TestACommitmentBindsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := events.NewPayload(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		ref := *p.Ref(events.MediaBin)
		require.True(t, p.Opens(ref))

		flip := rapid.ByteRange(1, 255).Draw(t, "flip")
		salted := p
		salted.Salt[rapid.IntRange(0, 31).Draw(t, "place in the salt")] ^= flip
		require.False(t, salted.Opens(ref), "another salt")

		longer := events.Payload{Salt: p.Salt, Bytes: append(append([]byte{}, p.Bytes...), flip)}
		require.False(t, longer.Opens(ref), "a byte more")

		if n := len(p.Bytes); n > 0 {
			changed := append([]byte{}, p.Bytes...)
			changed[rapid.IntRange(0, n-1).Draw(t, "place")] ^= flip
			require.False(t, events.Payload{Salt: p.Salt, Bytes: changed}.Opens(ref), "another byte")
			require.False(t, events.Payload{Salt: p.Salt, Bytes: p.Bytes[1:]}.Opens(ref), "a byte less")
		}
		lied := ref
		lied.Bytes++
		require.False(t, p.Opens(lied), "another length in the reference")
	})
}

func TestSaltsAreFresh(t *testing.T) {
	a, b := events.NewPayload([]byte("yes")), events.NewPayload([]byte("yes"))
	require.NotEqual(t, a.Salt, b.Salt)
	require.NotEqual(t, a.Ref(events.MediaText), b.Ref(events.MediaText))
}

func TestCarriedBy(t *testing.T) {
	ref := events.NewPayload([]byte("x")).Ref(events.MediaText)
	first := ref.CarriedBy("event-1")
	require.Equal(t, "event-1", first.In)
	require.Empty(t, ref.In, "the reference itself stays")
	require.Equal(t, "event-1", first.CarriedBy("event-2").In, "the event that carries it stays named")
	require.Nil(t, (*events.Ref)(nil).CarriedBy("event-1"))
}

func TestRefsAreInTheOrderOfTheFields(t *testing.T) {
	ref := func(s string) *events.Ref { return &events.Ref{MediaType: s} }
	media := func(e events.Event) []string {
		names := []string{}
		for _, r := range events.Refs(e) {
			names = append(names, r.MediaType)
		}
		return names
	}
	require.Equal(t, []string{"a", "c"}, media(&events.Decision{Arguments: ref("a"), Comment: ref("c")}))
	require.Equal(t, []string{"c"}, media(&events.Decision{Comment: ref("c")}))
	require.Equal(t, []string{"q", "b"}, media(&events.RunStarted{Query: ref("q"), Bypass: &events.Bypass{Reason: ref("b")}}))
	require.Equal(t, []string{"m", "d", "r"}, media(&events.RoundFinished{Message: ref("m"), Detail: ref("d"), Reasoning: ref("r")}))
	require.Empty(t, media(&events.Boot{}))
}

package events_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

const source = "agentd/node-1/boot-1"

// goldenID is the event id of the golden file of a type.
func goldenID(t events.Type) string {
	for i, typ := range events.AllTypes() {
		if typ == t {
			return fmt.Sprintf("0195f3a0-0000-7000-8000-%012d", i+1)
		}
	}
	return ""
}

// mintSample mints the sample of a type as its golden file has it.
func mintSample(t testing.TB, typ events.Type) events.Minted {
	t.Helper()
	return mintSampleOf(t, typ, 1)
}

func mintSampleOf(t testing.TB, typ events.Type, version int) events.Minted {
	t.Helper()
	draft := eventstest.SampleOf(typ, version)
	draft.ID = goldenID(typ)
	return mintOne(t, draft)
}

func mintOne(t testing.TB, draft events.Draft) events.Minted {
	t.Helper()
	minted, err := events.NewMinter(source, eventstest.Now).Mint(draft)
	require.NoError(t, err)
	return minted[0]
}

// decode reads an envelope and its data.
func decode(b []byte) (events.Envelope, events.Event, error) {
	env, err := events.DecodeEnvelope(b)
	if err != nil {
		return env, nil, err
	}
	event, err := env.Event()
	return env, event, err
}

func clockAt(s string) func() time.Time {
	at, err := time.Parse(time.RFC3339Nano, s)
	return func() time.Time {
		if err != nil {
			panic(err) // a typing mistake in a test
		}
		return at
	}
}

func sequence(t require.TestingT, env events.Envelope) uint64 {
	n, err := strconv.ParseUint(env.Sequence, 10, 64)
	require.NoError(t, err)
	return n
}

package events_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

func TestMintGivesIDsTimesAndDigests(t *testing.T) {
	m := events.NewMinter(source, clockAt("2026-11-30T14:03:00.123456789+02:00"))
	minted, err := m.Mint(eventstest.Sample(events.TypePerson), events.Draft{ID: "mine", Data: eventstest.Sample(events.TypeAlive).Data})
	require.NoError(t, err)
	require.Len(t, minted, 2)
	id, err := uuid.Parse(minted[0].ID)
	require.NoError(t, err)
	require.EqualValues(t, 7, id.Version())
	require.Equal(t, "mine", minted[1].ID)

	env, _, err := decode(minted[1].Envelope)
	require.NoError(t, err)
	require.Equal(t, "mine", env.ID)
	require.Equal(t, source, env.PartitionKey, "an event of no session is keyed by its source")
	require.Empty(t, env.SessionID)
	require.Equal(t, minted[1].Time, env.Time)
	require.Equal(t, "2026-11-30T12:03:00.123456Z", env.Time.Format("2006-01-02T15:04:05.999999999Z07:00"))
	require.Equal(t, events.DigestOf(minted[1].Envelope), minted[1].Digest())
	require.Equal(t, events.Digest("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), events.DigestOf([]byte("abc")))

	request, err := uuid.Parse(events.NewRequestID())
	require.NoError(t, err)
	require.EqualValues(t, 4, request.Version())
}

// The data of a later event of an append may depend on the bytes of an earlier.
func TestMintFromEarlier(t *testing.T) {
	m := events.NewMinter(source, eventstest.Now)
	request := eventstest.Sample(events.TypeApprovalRequest)
	minted, err := m.Mint(request, events.Draft{Session: request.Session, From: func(earlier []events.Minted) (events.Event, error) {
		require.Len(t, earlier, 1)
		start := *eventstest.Sample(events.TypeToolStarted).Data.(*events.ToolStarted)
		start.RequestDigest = earlier[0].Digest()
		return &start, nil
	}})
	require.NoError(t, err)
	started := eventstest.Validate(t, minted[1].Envelope).(*events.ToolStarted)
	require.Equal(t, events.DigestOf(minted[0].Envelope), started.RequestDigest)
}

func TestMintRefuses(t *testing.T) {
	long := strings.Repeat("x", 513)
	boom := errors.New("boom")
	change := func(typ events.Type, f func(*events.Draft)) events.Draft {
		d := eventstest.Sample(typ)
		f(&d)
		return d
	}
	for _, tc := range []struct {
		name  string
		draft events.Draft
		want  string
	}{
		{"no event", events.Draft{Session: "s"}, "no event"},
		{"a nil event", events.Draft{Data: (*events.Decision)(nil)}, "no event"},
		{"no event from the earlier", events.Draft{From: func([]events.Minted) (events.Event, error) { return nil, nil }}, "no event"},
		{"an error from the earlier", events.Draft{From: func([]events.Minted) (events.Event, error) { return nil, boom }}, "boom"},
		{"an empty event", events.Draft{Data: &events.Decision{}}, "arguments is missing"},
		{"invalid UTF-8", change("alive", func(d *events.Draft) { d.Data.(*events.Alive).BootID = "\xff" }), "UTF-8"},
		{"half a surrogate", change("alive", func(d *events.Draft) { d.Data.(*events.Alive).BootID = "\xed\xa0\x80" }), "UTF-8"},
		{"invalid UTF-8 in the session", change("alive", func(d *events.Draft) { d.Session = "\xff" }), "UTF-8"},
		{"long session", change("alive", func(d *events.Draft) { d.Session = long }), "sessionid has 513 bytes"},
		{"long id", change("alive", func(d *events.Draft) { d.ID = long }), "id has 513 bytes"},
		{"long causation", change("alive", func(d *events.Draft) { d.Causation = long }), "causationid has 513 bytes"},
		{"long traceparent", change("alive", func(d *events.Draft) { d.TraceParent = long }), "traceparent has 513 bytes"},
		{"a time-out that nobody could meet", change("approval_request", func(d *events.Draft) {
			d.Data.(*events.ApprovalRequest).Timeout = 999
		}), "microsecond"},
		{"a time-out of a lifetime", change("approval_request", func(d *events.Draft) {
			d.Data.(*events.ApprovalRequest).Timeout = 1 << 62
		}), "duration"},
		{"a time before the calendar", change("clock_step", func(d *events.Draft) {
			d.Data.(*events.ClockStep).Before = events.Micros(-1 << 60)
		}), "outside the years"},
		{"an envelope over 32 KiB", change("alive", func(d *events.Draft) {
			d.Data.(*events.Alive).Heads = make([]events.Head, 400)
			for i := range d.Data.(*events.Alive).Heads {
				d.Data.(*events.Alive).Heads[i].Root = events.DigestOf(nil)
			}
		}), "the bound is 32768"},
		{"an event over 900 KiB", change("tool_result", func(d *events.Draft) {
			d.Payloads = []events.Payload{{Bytes: make([]byte, 450<<10)}, {Bytes: make([]byte, 450<<10)}}
		}), "the bound is 921600"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := events.NewMinter(source, eventstest.Now)
			minted, err := m.Mint(eventstest.Sample(events.TypeAlive), tc.draft)
			require.ErrorContains(t, err, "mint event 2 of 2: ")
			require.ErrorContains(t, err, tc.want)
			require.ErrorIs(t, err, events.ErrUnrecordable)
			require.Nil(t, minted)
		})
	}
}

func TestMintTakesWhatIsJustInBounds(t *testing.T) {
	d := eventstest.Sample(events.TypeToolResult)
	d.ID = goldenID(events.TypeToolResult)
	size := len(mintOne(t, d).Envelope)
	d.Payloads = []events.Payload{{Bytes: make([]byte, events.MaxEventBytes-size)}}
	mintOne(t, d)
}

// Sequence numbers are contiguous in each session, and a batch that fails uses
// none, whatever comes in between.
func TestSequencesAreContiguous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := events.NewMinter(source, eventstest.Now)
		next := map[string]uint64{}
		session := rapid.SampledFrom([]string{"", "a", "b"})
		for range rapid.IntRange(1, 10).Draw(t, "batches") {
			var drafts []events.Draft
			fails := false
			for range rapid.IntRange(0, 5).Draw(t, "events") {
				d := eventstest.Sample(events.TypeAlive)
				d.Session = session.Draw(t, "session")
				if rapid.IntRange(0, 9).Draw(t, "luck") == 0 {
					d.Data, fails = &events.Alive{}, true
				}
				drafts = append(drafts, d)
			}
			minted, err := m.Mint(drafts...)
			require.Equal(t, fails, err != nil)
			for _, one := range minted {
				env, err := events.DecodeEnvelope(one.Envelope)
				require.NoError(t, err)
				require.Equal(t, env.SessionID, one.Session)
				require.Equal(t, next[one.Session], sequence(t, env))
				next[one.Session]++
			}
		}
	})
}

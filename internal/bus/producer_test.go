package bus_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

const source = "agentd/test/boot"

func producer(j *journal.Journal) *bus.Producer {
	return bus.NewProducer(bus.ProducerOptions{Journal: j, Source: source, Clock: eventstest.Now})
}

// draft is a sample in a session of the caller's choice.
func draft(t events.Type, session string) events.Draft {
	d := eventstest.Sample(t)
	d.Session = session
	return d
}

func TestProducerAppends(t *testing.T) {
	for _, i := range implementations() {
		t.Run(i.name, func(t *testing.T) {
			j, _ := run(t, i.journal(t))
			p := producer(j)
			first, err := p.Append(t.Context(), draft(events.TypeBoot, ""))
			require.NoError(t, err)
			require.Equal(t, int64(1), first.Row)
			var seen []events.Minted
			request := draft(events.TypeApprovalRequest, "a")
			request.From = func(earlier []events.Minted) (events.Event, error) {
				seen = append(seen, earlier...)
				return draft(events.TypeApprovalRequest, "a").Data, nil
			}
			appended, err := p.Append(t.Context(), draft(events.TypeToolCall, "a"), request)
			require.NoError(t, err)
			require.Equal(t, int64(3), appended.Row)
			require.Equal(t, appended.Events[:1], seen)

			require.NoError(t, p.Wait(t.Context(), 2))
			all, err := p.Read(t.Context(), 0, 100)
			require.NoError(t, err)
			require.Len(t, all, 3)
			ofNone, err := p.Session(t.Context(), "", 0, 100)
			require.NoError(t, err)
			require.Equal(t, all[:1], ofNone)
			ofA, err := p.Session(t.Context(), "a", 2, 100)
			require.NoError(t, err)
			require.Equal(t, all[2:], ofA)
			for n, e := range appended.Events {
				require.Equal(t, string(e.Envelope), string(all[n+1].Record.Envelope), "bytes are minted once")
			}
		})
	}
}

func TestProducerPayload(t *testing.T) {
	var alarms bytes.Buffer
	j, _ := run(t, journal.Options{Memory: true})
	p := bus.NewProducer(bus.ProducerOptions{Journal: j, Source: source, Logger: slog.New(slog.NewTextHandler(&alarms, nil))})
	payload := events.NewPayload([]byte(`{"path":"a"}`))
	d := draft(events.TypeToolCall, "a")
	d.Payloads = []events.Payload{payload}
	appended, err := p.Append(t.Context(), d)
	require.NoError(t, err)
	carrier, ref := appended.Events[0].ID, payload.Ref(events.MediaJSON)
	shorter, other := *ref, events.NewPayload(payload.Bytes).Ref(events.MediaJSON)
	shorter.Bytes--

	for name, c := range map[string]struct {
		standsIn string
		ref      *events.Ref
		want     error
	}{
		"in the event itself":       {carrier, ref, nil},
		"carried by an earlier one": {"another", ref.CarriedBy(carrier), nil},
		"no reference":              {carrier, nil, events.ErrNoPayload},
		"an unknown event":          {"another", ref, events.ErrNoPayload},
		"never carried":             {carrier, other, events.ErrNoPayload},
		"not as long as it says":    {carrier, &shorter, bus.ErrAltered},
	} {
		got, err := p.Payload(t.Context(), c.standsIn, c.ref)
		if c.want != nil {
			require.ErrorIs(t, err, c.want, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, string(payload.Bytes), string(got), name)
	}
	require.Equal(t, 1, strings.Count(alarms.String(), "level=ERROR"), alarms.String())
	require.Contains(t, alarms.String(), carrier)
}

func TestProducerErrors(t *testing.T) {
	cases := []struct {
		name   string
		o      journal.Options
		stop   bool // stop the writer before
		drafts []events.Draft
		want   []error // nil: it succeeds
	}{
		{
			name: "a full disk takes no call", o: journal.Options{FreeBytes: math.MaxUint64},
			drafts: []events.Draft{draft(events.TypeToolCall, "a")}, want: []error{events.ErrRefused, journal.ErrDiskFull},
		},
		{
			name: "nor what ends work together with a call", o: journal.Options{FreeBytes: math.MaxUint64},
			drafts: []events.Draft{draft(events.TypeDecision, "a"), draft(events.TypeToolCall, "a")}, want: []error{events.ErrRefused},
		},
		{
			name: "but the start of a call that was approved", o: journal.Options{FreeBytes: math.MaxUint64},
			drafts: []events.Draft{draft(events.TypeToolStarted, "a")},
		},
		{
			name: "but a result", o: journal.Options{FreeBytes: math.MaxUint64},
			drafts: []events.Draft{draft(events.TypeToolResult, "a")},
		},
		{
			name: "a stopped journal takes nothing", stop: true,
			drafts: []events.Draft{draft(events.TypeToolResult, "a")}, want: []error{events.ErrLogStopped, journal.ErrStopped},
		},
		{
			name: "more than a queue can hold", o: journal.Options{QueueBytes: 64 << 10},
			drafts: []events.Draft{draft(events.TypeToolResult, "a"), draft(events.TypeToolResult, "a")}, want: []error{events.ErrUnrecordable, journal.ErrTooLarge},
		},
		{
			name: "what cannot be minted", drafts: []events.Draft{{Session: "a", Data: &events.ToolResult{}}}, want: []error{events.ErrUnrecordable},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.o.Path = filepath.Join(t.TempDir(), "journal.db")
			j, err := journal.Open(t.Context(), c.o)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- j.Run(ctx) }()
			if c.stop {
				cancel()
				require.NoError(t, <-ended)
			}
			_, err = producer(j).Append(t.Context(), c.drafts...)
			for _, want := range c.want {
				require.ErrorIs(t, err, want)
			}
			if c.want == nil {
				require.NoError(t, err)
			}
			if cancel(); !c.stop {
				require.NoError(t, <-ended)
			}
			require.NoError(t, j.Close())
		})
	}
	_, err := producer(nil).Append(t.Context())
	require.Error(t, err, "an append of nothing")
}

func TestProducerReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, stop := run(t, journal.Options{Path: path})
	_, err := producer(j).Append(t.Context(), draft(events.TypeToolCall, "a"))
	require.NoError(t, err)
	stop()
	reader, err := journal.Open(t.Context(), journal.Options{Path: path, ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, reader.Close()) }()
	got, err := producer(reader).Read(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, got, 1)
	_, err = producer(reader).Append(t.Context(), draft(events.TypeToolCall, "a"))
	require.ErrorIs(t, err, events.ErrLogStopped)
}

func TestProducerWaitEnds(t *testing.T) {
	j, _ := run(t, journal.Options{Memory: true})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, producer(j).Wait(ctx, 0), context.DeadlineExceeded)
}

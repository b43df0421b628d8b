package bus_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// sequences returns the sequence numbers of each session in log order.
func sequences(t *testing.T, p *bus.Producer) map[string][]int {
	t.Helper()
	all, err := p.Read(t.Context(), 0, 10_000)
	require.NoError(t, err)
	out := map[string][]int{}
	for _, e := range all {
		env, err := events.DecodeEnvelope(e.Record.Envelope)
		require.NoError(t, err)
		n, err := strconv.Atoi(env.Sequence)
		require.NoError(t, err)
		out[env.SessionID] = append(out[env.SessionID], n)
	}
	return out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestSequences: however many append at once, the numbers of a session stand
// in the log in order and without gaps.
func TestSequences(t *testing.T) {
	const appenders, each = 16, 20
	for _, i := range implementations() {
		t.Run(i.name, func(t *testing.T) {
			j, _ := run(t, i.journal(t))
			p := producer(j)
			var all sync.WaitGroup
			for a := range appenders {
				all.Go(func() {
					for n := range each {
						drafts := []events.Draft{draft(events.TypeToolCall, "shared"), draft(events.TypeToolCall, strconv.Itoa(a))}
						if n%2 == 1 {
							drafts = append(drafts, draft(events.TypeToolResult, "shared"))
						}
						if _, err := p.Append(t.Context(), drafts...); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			got := sequences(t, p)
			require.Equal(t, upTo(appenders*each*3/2), got["shared"])
			for a := range appenders {
				require.Equal(t, upTo(each), got[strconv.Itoa(a)])
			}
		})
	}
}

// TestSequencesUnderOverload: the writer stands still until the queue is full.
// New work is refused, what ends work is not, and what was refused left no gap.
func TestSequencesUnderOverload(t *testing.T) {
	const appenders = 400
	j, err := journal.Open(t.Context(), journal.Options{Memory: true, QueueBytes: 1 << 20})
	require.NoError(t, err)
	p := producer(j)
	var all sync.WaitGroup
	var begun atomic.Int64
	refusals := make(chan error, appenders)
	for range appenders {
		all.Go(func() {
			if _, err := p.Append(t.Context(), draft(events.TypeToolCall, "a")); err != nil {
				refusals <- err
				return
			}
			begun.Add(1)
		})
		all.Go(func() {
			if _, err := p.Append(t.Context(), draft(events.TypeToolResult, "a")); err != nil {
				t.Error("what ends work was refused:", err)
			}
		})
	}
	refused := []error{<-refusals} // the queue is full
	_, err = p.Append(t.Context(), draft(events.TypeToolResult, "a"), draft(events.TypeToolCall, "a"))
	require.ErrorIs(t, err, events.ErrRefused, "an append that also ends work is refused as a whole")

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	all.Wait()
	close(refusals)
	for err := range refusals {
		refused = append(refused, err)
	}
	require.NoError(t, errors.Join(refusedOnly(refused)...))
	require.Equal(t, appenders, len(refused)+int(begun.Load()))
	require.Equal(t, upTo(appenders+int(begun.Load())), sequences(t, p)["a"])
	cancel()
	require.NoError(t, errors.Join(<-ended, j.Close()))
}

// refusedOnly returns the errors that are no refusals.
func refusedOnly(errs []error) []error {
	var other []error
	for _, err := range errs {
		if !errors.Is(err, events.ErrRefused) || !errors.Is(err, journal.ErrOverloaded) {
			other = append(other, err)
		}
	}
	return other
}

// TestSequenceAfterFailure says which failed appends use numbers up.
func TestSequenceAfterFailure(t *testing.T) {
	j, err := journal.Open(t.Context(), journal.Options{Memory: true, QueueBytes: 256 << 10})
	require.NoError(t, err)
	p := producer(j)
	for range 100 { // more than the queue could hold, if they kept their room
		_, err := p.Append(t.Context(), draft(events.TypeToolResult, "a"), events.Draft{
			Session: "a", From: func([]events.Minted) (events.Event, error) { return nil, errors.New("no event") },
		})
		require.ErrorContains(t, err, "no event")
	}
	gone, giveUp := context.WithCancelCause(t.Context())
	giveUp(errors.New("the caller went away"))
	_, err = p.Append(gone, draft(events.TypeToolCall, "a"))
	require.ErrorContains(t, err, "may or may not be stored: the caller went away")

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	_, err = p.Append(t.Context(), draft(events.TypeToolCall, "a"))
	require.NoError(t, err)
	require.Equal(t, map[string][]int{"a": {1}}, sequences(t, p), "the gap tells of the event that was given up")
	cancel()
	require.NoError(t, errors.Join(<-ended, j.Close()))
}

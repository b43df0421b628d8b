package gate_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
)

// The watch over everything that two gates and their crashes, races and cut-off
// processes leave behind: it finds every start that was written by hand and that
// nothing permits, and nothing that a gate wrote.
func TestTheWatchTellsGatesFromHands(t *testing.T) {
	judged := 0
	rapid.Check(t, func(r *rapid.T) {
		acts := make([]act, rapid.IntRange(5, 40).Draw(r, "acts"))
		for i := range acts {
			acts[i] = drawAct(r)
		}
		var log *memLog
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			defer w.end()
			require.NoError(t, w.nodes[0].DefineAll(t.Context()))
			w.begin(w.nodes[0])
			for _, a := range acts {
				a.do(w)
			}
			w.settle()
			log = w.log
		})
		found := found(t, log)
		for _, e := range log.all() {
			record := fold.Decode(e.Record)
			by, wrong := record.Envelope.Source, found[record.Envelope.ID]
			if wrong != "" && by != hand {
				r.Fatalf("the watch finds %s in row %d, which %s wrote", wrong, e.Row, by)
			}
			start, ok := record.Event.(*events.ToolStarted)
			if !ok || by != hand || permitted(log, start) {
				continue
			}
			judged++
			if wrong == "" {
				r.Fatalf("the watch does not find the start of row %d, which was written by hand", e.Row)
			}
		}
	})
	require.Positive(t, judged, "nothing was written by hand: the test tests nothing")
}

// permitted reports whether the call of a start needed nobody's approval: then a
// start by hand is one that lost a race.
func permitted(log *memLog, start *events.ToolStarted) bool {
	for _, e := range log.all() {
		if call, ok := fold.Decode(e.Record).Event.(*events.ToolCall); ok && call.CallKey == start.CallKey {
			return call.Effect == events.EffectAllow
		}
	}
	return false
}

// found are the violations that the watch finds in a log, by event.
func found(t *testing.T, log *memLog) map[string]projections.Invariant {
	t.Helper()
	v, err := projections.Open(t.Context(), projections.Options{Source: still{log}})
	require.NoError(t, err)
	defer v.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	for status, changed := v.Changed(); status.Records < uint64(len(log.entries)); status, changed = v.Changed() {
		<-changed
	}
	stop()
	require.NoError(t, <-done)
	page, err := v.Violations(t.Context(), projections.Everything(), "", 1000)
	require.NoError(t, err)
	all := map[string]projections.Invariant{}
	for _, f := range page.Items {
		all[f.EventID] = f.Invariant
	}
	return all
}

// still is a log to which nobody writes any more.
type still struct{ log *memLog }

func (s still) Read(_ context.Context, after int64, limit int) ([]events.Entry, error) {
	rest := s.log.entries[after:]
	return rest[:min(limit, len(rest))], nil
}

func (s still) Head() uint64 { return uint64(len(s.log.entries)) }

func (s still) Wait(ctx context.Context, _ int64) error {
	<-ctx.Done()
	return fmt.Errorf("stopped: %w", context.Cause(ctx))
}

func (s still) Session(ctx context.Context, session string, after int64, limit int) ([]events.Entry, error) {
	return s.log.Session(ctx, session, after, limit)
}

func (s still) Payload(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error) {
	return s.log.Payload(ctx, carrier, ref)
}

// Payloads tells no texts: the watch does not search.
func (s still) Payloads(context.Context, int64, int64, func(int64, int, string, []byte) bool) error {
	return nil
}

package gate_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// fullLog is a log without room while full is set: as the journal's, it refuses
// what begins work and lets the rest wait.
type fullLog struct {
	gate.Log
	full atomic.Bool
}

// Append implements gate.Log.
func (l *fullLog) Append(ctx context.Context, drafts ...events.Draft) (events.Appended, error) {
	if !l.full.Load() {
		return l.Log.Append(ctx, drafts...)
	}
	if events.Begins(drafts...) {
		return events.Appended{}, events.ErrRefused
	}
	<-ctx.Done()
	return events.Appended{}, context.Cause(ctx)
}

// openFull opens a gate over a log that can be full.
func openFull(t *testing.T, log *memLog) (*house, *fullLog) {
	t.Helper()
	full := &fullLog{Log: log.as("agentd/n/b1")}
	return openWith(t, log, time.Hour, func(o *gate.Options) { o.Log = full }), full
}

// Who decides is told in time that the log has no room, with the id under which
// the decision may stand, and can say the same again.
func TestADecisionWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log := openFull(t, newMemLog(time.Now))
		h.propose(t, "s", "Bash")
		r := ruling(h.request(t, "s", 0), events.VerdictApprove, alice, keyed("k"))
		log.full.Store(true)
		began := time.Now()
		answer, err := h.Decide(t.Context(), r)
		require.ErrorIs(t, err, gate.ErrNotTaken)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.NotEmpty(t, answer.EventID)
		require.False(t, answer.Accepted)
		require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
		log.full.Store(false)
		h.accepted(t, r)
	})
}

// A process that stops does not wait for ever for room: the result is not
// recorded, and the next boot finds the call as lost.
func TestAResultWithoutRoomAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := newMemLog(time.Now)
		h, log := openFull(t, mem)
		h.propose(t, "s", "Read")
		ctx, stop := context.WithCancel(t.Context())
		var ended time.Time
		err := h.Carry(ctx, "s", key("s", 0), func(context.Context, []byte) gate.Output {
			log.full.Store(true)
			stop()
			ended = time.Now()
			return gate.Output{Content: []byte("done")}
		})
		require.ErrorContains(t, err, "was not recorded, and nothing of it was acknowledged")
		require.Equal(t, 3*time.Second, time.Since(ended))
		h.stop()

		h = open(t, mem, "b2", time.Hour)
		r, _ := h.result(t, "s", 0)
		require.Equal(t, events.StatusAmbiguous, r.Status)
	})
}

// A boot that cannot end what the last one lost fails: those calls would seem
// to run.
func TestARecoveryWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := newMemLog(time.Now)
		h := open(t, mem, "b0", time.Hour)
		require.NoError(t, h.Propose(t.Context(), atOnce("s", "", "Read")))
		h.stop()
		full := &fullLog{Log: mem.as("agentd/n/b1")}
		full.full.Store(true)
		h, err := build(t.Context(), mem, time.Hour, func(o *gate.Options) { o.Log = full })
		require.NoError(t, err)
		require.ErrorIs(t, h.Run(t.Context()), gate.ErrNotTaken)
	})
}

// What ends a tool early has one word each, whatever the tool itself says of a
// context that ended.
func TestWhatStoppedATool(t *testing.T) {
	for word, end := range map[string]struct {
		why string
		ctx func(context.Context) context.Context
	}{
		"shutdown": {"agentd was stopped while the tool ran", func(ctx context.Context) context.Context {
			ctx, stop := context.WithCancel(ctx)
			time.AfterFunc(time.Second, stop)
			return ctx
		}},
		"": {"out of time", func(ctx context.Context) context.Context {
			ctx, stop := context.WithTimeoutCause(ctx, time.Second, errors.Join(errors.New("out of time"), context.DeadlineExceeded))
			context.AfterFunc(ctx, stop)
			return ctx
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, newMemLog(time.Now), "b1", time.Hour)
			h.propose(t, "s", "Read")
			require.NoError(t, h.Carry(end.ctx(t.Context()), "s", key("s", 0), func(ctx context.Context, _ []byte) gate.Output {
				<-ctx.Done()
				return gate.Output{Content: []byte(context.Cause(ctx).Error()), Failed: true}
			}))
			r, text := h.result(t, "s", 0)
			require.Equal(t, events.StatusError, r.Status)
			require.Equal(t, word, r.StoppedBy)
			require.Contains(t, text, end.why)
		})
	}
}

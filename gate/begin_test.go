package gate_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// atOnce is a proposal whose calls are carried as soon as they are recorded.
func atOnce(session, run string, calls ...string) gate.Proposal {
	p := proposal(session, run, calls...)
	for i := range p.Calls {
		p.Calls[i].AtOnce = true
	}
	return p
}

func (h *house) started(t *testing.T, session string, i int) bool {
	t.Helper()
	var yes bool
	require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { yes = s.Calls[key(session, i)].Start != nil }))
	return yes
}

// Invariants 1 and 3: what is free starts with its turn and runs once; what
// asks, or is denied, does not.
func TestAFreeCallStartsWithItsTurn(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	require.NoError(t, h.Propose(t.Context(), atOnce("s", "", "Read", "Bash", "Rm", "Read", "None")))
	for i, want := range []bool{true, false, false, true, false} {
		require.Equal(t, want, h.started(t, "s", i), i)
	}
	var ran atomic.Int32
	for range 2 {
		for _, i := range []int{0, 3} {
			r, _ := h.carry(t, "s", i, ok(&ran))
			require.Equal(t, events.StatusOK, r.Status)
		}
	}
	require.EqualValues(t, 2, ran.Load(), "each once, also when carried again")
	require.Equal(t, 2, log.count(events.TypeToolStarted))
	q := h.request(t, "s", 1)
	h.accepted(t, ruling(q, events.VerdictApprove, alice))
	h.carry(t, "s", 1, ok(&ran))
	require.EqualValues(t, 3, ran.Load())
}

// A process that dies between the turn and its tools leaves starts whose
// outcome nobody knows.
func TestAStartWithItsTurnThatNobodyCarried(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	require.NoError(t, h.Propose(t.Context(), atOnce("s", "", "Read")))
	log.set(dead(h.source))
	h.stop()
	log.set(func(l *memLog) { l.fail = nil })
	next := open(t, log, "b2", time.Minute)
	var ran atomic.Int32
	r, _ := next.carry(t, "s", 0, ok(&ran))
	require.Equal(t, events.StatusAmbiguous, r.Status)
	require.Zero(t, ran.Load())
}

func TestACancellationBeforeTheToolBegan(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.begin(t, "s", "r")
	require.NoError(t, h.Propose(t.Context(), atOnce("s", "r", "Read")))
	require.True(t, h.cancel(t, "s", events.CauseCancelled))
	var ran atomic.Int32
	r, text := h.carry(t, "s", 0, ok(&ran))
	require.Zero(t, ran.Load())
	require.Equal(t, events.StatusError, r.Status, "after an effective start nothing else is true")
	require.Equal(t, "cancelled", r.StoppedBy)
	require.Contains(t, text, "stopped before the tool began")
}

// Invariant 10, for a start in its turn's commit. What the log says it did not
// take is never run, also where it stands in the log all the same.
func TestATurnThatTheLogRefuses(t *testing.T) {
	failed := errors.New("no answer from the disk")
	for name, stored := range map[string]bool{"not stored": false, "stored all the same": true} {
		t.Run(name, func(t *testing.T) {
			log := newMemLog(time.Now)
			h := open(t, log, "b1", time.Minute)
			log.set(func(l *memLog) {
				l.fail = func(string, []events.Draft) *fault { return &fault{err: failed, stored: stored} }
			})
			require.ErrorIs(t, h.Propose(t.Context(), atOnce("s", "", "Read")), failed)
			log.set(func(l *memLog) { l.fail = nil })
			var ran atomic.Int32
			if !stored {
				require.ErrorIs(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)), gate.ErrUnknownCall)
				return
			}
			h.until(t, "s", func(s *fold.Session) bool { return len(s.Calls) == 1 })
			r, _ := h.carry(t, "s", 0, ok(&ran))
			require.Equal(t, events.StatusAmbiguous, r.Status)
			require.Zero(t, ran.Load())
		})
	}
}

// A turn that came back late is run all the same, once.
func TestATurnThatComesBackLate(t *testing.T) {
	log := newMemLog(time.Now)
	h := openWith(t, log, time.Minute, func(o *gate.Options) { o.JudgedWithin = time.Millisecond })
	log.set(func(l *memLog) { l.held[h.source] = true })
	require.ErrorIs(t, h.Propose(t.Context(), atOnce("s", "", "Read")), gate.ErrNotBack)
	log.set(func(l *memLog) { l.held[h.source] = false })
	h.until(t, "s", func(s *fold.Session) bool { return len(s.Calls) == 1 })
	var ran atomic.Int32
	r, _ := h.carry(t, "s", 0, ok(&ran))
	require.Equal(t, events.StatusOK, r.Status)
	require.EqualValues(t, 1, ran.Load())
}

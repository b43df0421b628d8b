package gate_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// last is the place up to which a session is folded.
func (h *house) last(t *testing.T, session string) (at events.Position) {
	t.Helper()
	require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { at = s.Last }))
	return at
}

// What is registered for a session that moves is called once, and never where
// it has moved already.
func TestOnce(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Bash", "Bash")
	h.propose(t, "other", "Bash")
	before := h.last(t, "s")
	called := make(chan string, 8)
	once := func(session, name string, at events.Position) bool {
		t.Helper()
		will, err := h.Once(t.Context(), session, at, func() { called <- name })
		require.NoError(t, err)
		return will
	}
	require.True(t, once("s", "replaced", before))
	require.True(t, once("s", "moved", before))
	require.True(t, once("other", "other", h.last(t, "other")))

	h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
	require.Equal(t, "moved", <-called)
	require.False(t, once("s", "late", before), "it has moved beyond that")
	require.True(t, once("s", "again", h.last(t, "s")))
	h.accepted(t, ruling(h.request(t, "s", 1), events.VerdictDecline, alice))
	require.Equal(t, "again", <-called)
	h.stop()
	require.Empty(t, called, "nothing of the other session has moved")
}

// A carrier that runs out of patience leaves the call as it was; one whose call
// is decided carries it to its end, patience or not.
func TestACarrierRunsOutOfPatience(t *testing.T) {
	for name, test := range map[string]struct {
		decide bool
		want   error
		ran    int32
	}{
		"nobody decides": {false, gate.ErrUndecided, 0},
		"it is decided":  {true, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, newMemLog(time.Now), "b1", time.Minute)
			h.propose(t, "s", "Bash")
			var ran atomic.Int32
			if test.decide {
				h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
			}
			ended, end := context.WithCancel(t.Context())
			end()
			require.ErrorIs(t, h.CarryWhile(t.Context(), ended, "s", key("s", 0), ok(&ran)), test.want)
			require.Equal(t, test.ran, ran.Load())
			// another carrier goes on
			if !test.decide {
				h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
			}
			require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
			require.EqualValues(t, 1, ran.Load())
		})
	}
}

// A hundred times as many sessions wait as stay folded: each is known, falls due,
// can be decided, and is found again by the next boot.
func TestSessionsThatAreNotKept(t *testing.T) {
	const sessions = 200
	log := newMemLog(time.Now)
	boot := func(name string) *house {
		return openWith(t, log, time.Hour, func(o *gate.Options) { o.Boot, o.KeepLoaded = name, 2 })
	}
	h := boot("b1")
	for i := range sessions {
		h.propose(t, fmt.Sprint("s", i), "Bash")
	}
	for round := range 2 {
		require.Len(t, h.Unfinished(), sessions-round)
		i := 10 + round
		q := h.request(t, fmt.Sprint("s", i), 0)
		h.accepted(t, ruling(q, events.VerdictApprove, alice))
		var ran atomic.Int32
		require.NoError(t, h.Carry(t.Context(), fmt.Sprint("s", i), key(fmt.Sprint("s", i), 0), ok(&ran)))
		require.EqualValues(t, 1, ran.Load())
		h.stop()
		h = boot(fmt.Sprint("b", round+2))
	}
}

// Only a run whose open calls all wait for people waits for them alone.
func TestWaits(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	waits := func() (is bool) {
		require.NoError(t, h.View(t.Context(), "s", func(s *fold.Session) { is = h.Waits(s) }))
		_, _, noted := h.Waiting("s")
		require.Equal(t, is, noted)
		return is
	}
	h.begin(t, "s", "r")
	require.False(t, waits(), "the model is asked")
	p := proposal("s", "r", "Bash", "Read", "Bash")
	p.Before = []events.Draft{{Session: "s", Data: &events.RoundFinished{
		RunID: "r", BatchID: p.BatchID, Round: 1, Attempt: 1, Agent: p.Agent, Dialect: "d", Outcome: events.RoundCalls, Calls: len(p.Calls),
	}}}
	require.NoError(t, h.Propose(t.Context(), p))
	require.False(t, waits(), "a free call is to be carried")
	var ran atomic.Int32
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 1), ok(&ran)))
	require.True(t, waits())
	h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictDecline, alice))
	require.False(t, waits(), "its result is to be recorded")
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
	require.True(t, waits())
	found, err := h.Cancel(t.Context(), "s", "p-carla", events.CauseCancelled, nil, "test")
	require.NoError(t, err)
	require.True(t, found)
	require.False(t, waits())
}

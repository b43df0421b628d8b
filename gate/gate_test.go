package gate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

func TestAnApprovedCallRunsOnceWithItsArguments(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Bash", "Read", "Rm", "Nope")
	q := h.request(t, "s", 0)
	answer, err := h.Decide(t.Context(), gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictApprove, Actor: alice, ActorName: "Alice", Via: "test"})
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	var ran atomic.Int32
	for i := range 4 {
		require.NoError(t, h.Carry(t.Context(), "s", key("s", i), ok(&ran)))
	}
	require.EqualValues(t, 2, ran.Load())
	for i, want := range []events.Status{events.StatusOK, events.StatusOK, events.StatusDeclined, events.StatusError} {
		r, text := h.result(t, "s", i)
		require.Equal(t, want, r.Status, text)
	}
}

func TestAModificationBecomesARevisionAndRuns(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Bash")
	q := h.request(t, "s", 0)
	rule := gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictModify, Arguments: []byte(changed), Actor: alice, ActorName: "Alice", Via: "test"}
	bad := rule
	bad.Arguments = []byte(`{"Command":"pwd"}`)
	answer, err := h.Decide(t.Context(), bad)
	require.NoError(t, err)
	require.False(t, answer.Accepted)
	answer, err = h.Decide(t.Context(), rule)
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	var ran atomic.Int32
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
	_, text := h.result(t, "s", 0)
	require.Equal(t, events.DigestOf([]byte(changed)), events.DigestOf([]byte(text)), "invariant 5: to the byte")
}

func TestATimeOutIsNeverAPersonsRefusal(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", 30*time.Millisecond)
	h.propose(t, "s", "Bash")
	var ran atomic.Int32
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
	r, text := h.result(t, "s", 0)
	require.Zero(t, ran.Load())
	require.Equal(t, events.StatusExpired, r.Status)
	require.Equal(t, events.CauseTimeout, r.Cause)
	require.Contains(t, text, "Nobody answered")
}

func TestAPendingRequestSurvivesARestartAndALostCallIsAmbiguous(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Bash", "Read")
	started := make(chan struct{})
	ctx, kill := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = h.Carry(ctx, "s", key("s", 1), func(ctx context.Context, _ []byte) gate.Output {
			close(started)
			<-ctx.Done()
			log.set(dead("agentd/n/b1"))
			return gate.Output{Failed: true}
		})
	}()
	<-started
	kill()
	<-gone
	h.stop()

	h = open(t, log, "b2", time.Minute)
	var ran atomic.Int32
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 1), ok(&ran)))
	require.Zero(t, ran.Load())
	r, _ := h.result(t, "s", 1)
	require.Equal(t, events.StatusAmbiguous, r.Status)
	q := h.request(t, "s", 0)
	answer, err := h.Decide(t.Context(), gate.Ruling{RequestID: q.RequestID, Verdict: events.VerdictApprove, Actor: alice, ActorName: "Alice", Via: "test"})
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)))
	require.EqualValues(t, 1, ran.Load())
}

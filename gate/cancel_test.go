package gate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// begin starts a run of a session.
func (h *house) begin(t *testing.T, session, run string) {
	t.Helper()
	policy := events.Digest(h.Policy().Digest())
	query := events.NewPayload([]byte("do it"))
	reason, err := h.Begin(t.Context(), events.Draft{Session: session, Payloads: []events.Payload{query}, Data: &events.RunStarted{
		RunID: run, Principal: "p-carla", Agent: events.Agent{Name: "main"}, Query: query.Ref(events.MediaText), Model: "m",
		ToolsDigest: policy, PolicyDigest: policy,
	}})
	require.NoError(t, err)
	require.Empty(t, reason)
}

func (h *house) cancel(t *testing.T, session string, cause events.Cause) bool {
	t.Helper()
	found, err := h.Cancel(t.Context(), session, "p-carla", cause, nil, "test")
	require.NoError(t, err)
	return found
}

// Invariant 6: what a cancellation ended is told as cancelled, by its cause.
func TestCancelBeforeTheStart(t *testing.T) {
	for _, cause := range []events.Cause{events.CauseCancelled, events.CauseSuperseded} {
		h := open(t, newMemLog(time.Now), "b1", time.Minute)
		require.False(t, h.cancel(t, "s", cause), "nothing runs")
		h.begin(t, "s", "r")
		require.NoError(t, h.Propose(t.Context(), proposal("s", "r", "Bash", "Bash", "Read")))
		h.accepted(t, ruling(h.request(t, "s", 1), events.VerdictApprove, alice))
		require.True(t, h.cancel(t, "s", cause))
		require.True(t, h.cancel(t, "s", cause), "it is cancelled already")
		require.Equal(t, 1, h.log.count(events.TypeRunCancelled))
		for i := range 3 { // pending, approved, free
			var ran atomic.Int32
			r, text := h.carry(t, "s", i, ok(&ran))
			require.Zero(t, ran.Load())
			require.Equal(t, events.StatusCancelled, r.Status, text)
			require.Equal(t, cause, r.Cause)
		}
		require.Contains(t, h.refused(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice)), "request was")
	}
}

// Who does not own a conversation cannot end what runs in it.
func TestCancelOfAnothersRun(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.begin(t, "s", "r")
	require.NoError(t, h.Propose(t.Context(), proposal("s", "r", "Bash")))
	before := len(h.log.all())
	for _, stranger := range []string{"p-dora", ""} {
		_, err := h.Cancel(t.Context(), "s", stranger, events.CauseCancelled, nil, "test")
		require.ErrorIs(t, err, gate.ErrUnknownSession)
	}
	require.Len(t, h.log.all(), before)
	require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
}

// A call that waits is told at once; one that runs is told to stop, and what
// it says then is its result.
func TestCancelWhileWaitingAndWhileRunning(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.begin(t, "s", "r")
	require.NoError(t, h.Propose(t.Context(), proposal("s", "r", "Bash", "Read")))
	started, ended := make(chan struct{}), make(chan error, 2)
	var ran atomic.Int32
	go func() { ended <- h.Carry(t.Context(), "s", key("s", 0), ok(&ran)) }()
	go func() {
		ended <- h.Carry(t.Context(), "s", key("s", 1), func(ctx context.Context, _ []byte) gate.Output {
			close(started)
			<-ctx.Done()
			return gate.Output{Content: []byte("half of it"), Failed: true}
		})
	}()
	<-started
	require.True(t, h.cancel(t, "s", events.CauseCancelled))
	require.NoError(t, <-ended)
	require.NoError(t, <-ended)
	r, _ := h.result(t, "s", 0)
	require.Equal(t, events.StatusCancelled, r.Status)
	require.Zero(t, ran.Load())
	r, text := h.result(t, "s", 1)
	require.Equal(t, events.StatusError, r.Status, "after a start only ok, error or ambiguous is true")
	require.Equal(t, "cancelled", r.StoppedBy)
	require.Equal(t, "half of it", text)
}

// A turn that arrives just after the cancellation waits for nobody.
func TestATurnThatArrivesInACancelledRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, newMemLog(time.Now), "b1", time.Hour)
		h.begin(t, "s", "r")
		require.True(t, h.cancel(t, "s", events.CauseSuperseded))
		began := time.Now()
		require.NoError(t, h.Propose(t.Context(), proposal("s", "r", "Bash", "Read")))
		for i := range 2 {
			var ran atomic.Int32
			r, _ := h.carry(t, "s", i, ok(&ran))
			require.Zero(t, ran.Load())
			require.Equal(t, events.StatusCancelled, r.Status)
			require.Equal(t, events.CauseSuperseded, r.Cause)
		}
		require.Less(t, time.Since(began), time.Second)
	})
}

// What a finished run left pending is ended, and another run's calls are not.
func TestARunThatEndsWithPendingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, newMemLog(time.Now), "b1", time.Hour)
		began := time.Now()
		h.propose(t, "s", "Bash") // of no run
		h.begin(t, "s", "r")
		p := proposal("s", "r", "Bash")
		p.BatchID = "b2"
		require.NoError(t, h.Propose(t.Context(), p))
		require.NoError(t, h.Record(t.Context(), events.Draft{Session: "s", Data: &events.RunFinished{RunID: "r", Reason: events.FinishError}}))
		h.until(t, "s", func(s *fold.Session) bool {
			return s.Calls[events.CallKey{BatchID: "b2"}].Request.State == fold.Declined
		})
		var left fold.Request
		h.until(t, "s", func(s *fold.Session) bool { left = *s.Calls[events.CallKey{BatchID: "b2"}].Request; return true })
		require.Equal(t, events.CauseCancelled, left.End.Cause)
		require.Less(t, time.Since(began), time.Second, "at once")
		require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
		h.begin(t, "s", "q")
		require.True(t, h.cancel(t, "s", events.CauseCancelled))
		require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
	})
}

// One carry has a call in hand; the others are told so.
func TestACallIsCarriedOnceAtATime(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Read")
	started, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- h.Carry(t.Context(), "s", key("s", 0), func(context.Context, []byte) gate.Output {
			close(started)
			<-goOn
			return gate.Output{}
		})
	}()
	<-started
	var ran atomic.Int32
	require.ErrorIs(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)), gate.ErrCarried)
	require.ErrorIs(t, h.Carry(t.Context(), "s", key("s", 7), ok(&ran)), gate.ErrUnknownCall)
	close(goOn)
	require.NoError(t, <-ended)
	require.NoError(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)), "it has ended")
	require.Zero(t, ran.Load())
}

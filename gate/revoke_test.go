package gate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

func revoking(q *fold.Request, who *events.Actor) gate.Revocation {
	return gate.Revocation{RequestID: q.RequestID, Actor: who, ActorName: who.Person[2:], Comment: "I looked again", Via: "test"}
}

// An approval is taken back while its call has not started, by whoever may decide
// it, and by nobody and never else.
func TestWhoTakesAnApprovalBackAndWhen(t *testing.T) {
	agent := &events.Actor{Person: "p-agent", Roles: []string{"agent"}, Groups: []string{}, Method: "token"}
	approved := func(t *testing.T, h *house) {
		h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
	}
	for name, c := range map[string]struct {
		before func(t *testing.T, h *house)
		who    *events.Actor
		want   string // why not; "" where it is taken back
	}{
		"by who approved":      {approved, alice, ""},
		"by another reviewer":  {approved, bob, ""},
		"by one with no role":  {approved, agent, "does not let you decide"},
		"before it is decided": {func(*testing.T, *house) {}, alice, "decline it instead"},
		"after a decline": {func(t *testing.T, h *house) {
			h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictDecline, bob))
		}, alice, "was declined by Bob"},
		"twice": {func(t *testing.T, h *house) {
			approved(t, h)
			a, err := h.Revoke(t.Context(), revoking(h.request(t, "s", 0), bob))
			require.NoError(t, err)
			require.True(t, a.Accepted)
		}, alice, "taken back already"},
		"after the start": {func(t *testing.T, h *house) {
			approved(t, h)
			var ran atomic.Int32
			h.carry(t, "s", 0, ok(&ran))
		}, alice, "the call started at"},
	} {
		t.Run(name, func(t *testing.T) {
			log := newMemLog(time.Now)
			h := open(t, log, "b1", time.Hour)
			h.propose(t, "s", "Bash")
			c.before(t, h)
			was, refusals := log.count(events.TypeRevocation), log.count(events.TypeAccess)
			a, err := h.Revoke(t.Context(), revoking(h.request(t, "s", 0), c.who))
			require.NoError(t, err)
			require.Equal(t, c.want == "", a.Accepted, a.Reason)
			if c.want != "" {
				require.Contains(t, a.Reason, c.want)
				require.Equal(t, was, log.count(events.TypeRevocation), "what cannot count is not appended")
				require.Equal(t, refusals+1, log.count(events.TypeAccess), "the attempt is on the record")
				return
			}
			var ran atomic.Int32
			r, text := h.carry(t, "s", 0, ok(&ran))
			require.Zero(t, ran.Load())
			require.Equal(t, events.StatusCancelled, r.Status)
			require.Equal(t, events.CauseCancelled, r.Cause)
			require.Contains(t, text, "The approval was taken back")
		})
	}
}

func TestRevokeOfARequestThatIsNone(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Hour)
	a, err := h.Revoke(t.Context(), gate.Revocation{RequestID: events.NewRequestID(), Actor: alice, Via: "test"})
	require.NoError(t, err)
	require.Equal(t, gate.Answer{Reason: "there is no such request"}, a)
	require.Equal(t, 1, log.count(events.TypeAccess))
}

// A carrier that waits for its turn hears that the approval was taken back, and
// ends the call at once, while the other still waits.
func TestATakenBackApprovalEndsAWaitingCarry(t *testing.T) {
	h := turns(t, newMemLog(time.Now))
	h.propose(t, "s", "Bash", "Bash")
	h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
	var ran atomic.Int32
	ended := make(chan error, 1)
	go func() { ended <- h.Carry(context.WithoutCancel(t.Context()), "s", key("s", 0), ok(&ran)) }()
	a, err := h.Revoke(t.Context(), revoking(h.request(t, "s", 0), bob))
	require.NoError(t, err)
	require.True(t, a.Accepted, a.Reason)
	require.NoError(t, <-ended)
	require.Zero(t, ran.Load())
	r, _ := h.result(t, "s", 0)
	require.Equal(t, events.StatusCancelled, r.Status)
	require.Equal(t, fold.Pending, h.request(t, "s", 1).State)
}

// Two people at once, one at each of two nodes: the one starts the call, the
// other takes the approval back. The log decides, and both nodes say the same.
func TestAStartAndARevocationRace(t *testing.T) {
	taken, started := 0, 0
	for range 40 {
		log := newMemLog(time.Now)
		here, there := open(t, log, "b1", time.Hour), openWith(t, log, time.Hour, func(o *gate.Options) { o.Node = "m" })
		here.propose(t, "s", "Bash")
		here.accepted(t, ruling(here.request(t, "s", 0), events.VerdictApprove, alice))
		there.until(t, "s", func(s *fold.Session) bool { return len(s.Requests) == 1 && lone(s).State == fold.Approved })
		var ran atomic.Int32
		carried := make(chan error, 1)
		go func() { carried <- here.Carry(context.WithoutCancel(t.Context()), "s", key("s", 0), ok(&ran)) }()
		a, err := there.Revoke(t.Context(), revoking(there.request(t, "s", 0), bob))
		require.NoError(t, err)
		require.NoError(t, <-carried)
		require.Equal(t, a.Accepted, ran.Load() == 0)
		r, _ := here.result(t, "s", 0)
		require.Equal(t, a.Accepted, r.Status == events.StatusCancelled)
		there.until(t, "s", func(s *fold.Session) bool { return s.Calls[key("s", 0)].Result != nil })
		other, _ := there.result(t, "s", 0)
		require.Equal(t, r, other)
		if a.Accepted {
			taken++
		} else {
			started++
		}
		here.stop()
		there.stop()
	}
	t.Logf("taken back %d times, started %d times", taken, started)
}

func lone(s *fold.Session) *fold.Request {
	for _, q := range s.Requests {
		return q
	}
	return nil
}

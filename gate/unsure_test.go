package gate_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

func rollback() *events.Rollback {
	return &events.Rollback{
		Kind: events.RollbackShorter, By: events.NotedByGate, Records: 99, Noted: []events.Head{}, At: events.At(time.Now()), Found: []events.Head{},
	}
}

// open calls, in every state in which a log can end.
func unfinishedLog(t *testing.T) *memLog {
	t.Helper()
	log := newMemLog(time.Now)
	h := turns(t, log)
	h.propose(t, "pending", "Bash", "Write")
	h.propose(t, "approved", "Bash", "Bash")
	h.accepted(t, ruling(h.request(t, "approved", 0), events.VerdictApprove, alice))
	h.propose(t, "declined", "Bash")
	h.accepted(t, ruling(h.request(t, "declined", 0), events.VerdictDecline, alice))
	h.propose(t, "back", "Bash")
	h.accepted(t, ruling(h.request(t, "back", 0), events.VerdictApprove, alice))
	_, err := h.Revoke(t.Context(), revoking(h.request(t, "back", 0), bob))
	require.NoError(t, err)
	h.propose(t, "started", "Write")
	h.propose(t, "elsewhere", "Write")
	h.propose(t, "ended", "Read")
	var ran atomic.Int32
	h.carry(t, "ended", 0, ok(&ran))
	p := proposal("run", "r1", "Write")
	reason, err := h.Begin(t.Context(), events.Draft{Session: "run", Data: &events.RunStarted{
		RunID: "r1", Principal: "p-carla", Agent: events.Agent{Name: "main"}, Query: events.NewPayload(nil).Ref(events.MediaText), Model: "m",
		ToolsDigest: events.DigestOf(nil), PolicyDigest: events.DigestOf(nil),
	}})
	require.NoError(t, err)
	require.Empty(t, reason)
	require.NoError(t, h.Propose(t.Context(), p))
	h.stop()
	log.startByHand(t, "started", "n/b1")
	log.startByHand(t, "elsewhere", "m/b9")
	return log
}

// silent is a gate of a later boot that does not run.
func silent(t *testing.T, log *memLog, boot string) *house {
	t.Helper()
	h, err := build(t.Context(), log, time.Hour, func(o *gate.Options) { o.Boot = boot })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// Whatever is open at the end of a log that was rolled back ends: what may have
// run as ambiguous, anything else as what had ended it; runs end with an error.
func TestWhatARollbackLeavesOpenEnds(t *testing.T) {
	log := unfinishedLog(t)
	records := len(log.all())
	found, err := silent(t, log, "b2").Unsure(t.Context())
	require.NoError(t, err)
	require.Len(t, log.all(), records, "looking changes nothing")
	state := map[string]gate.UnsureState{}
	certain := []string{}
	for _, u := range found {
		require.Equal(t, u.Session == "run", u.Run == "r1")
		for _, call := range u.Calls {
			state[u.Session+"/"+call.String()] = call.State
		}
		if u.Certain > 0 {
			certain = append(certain, u.Session)
		}
	}
	require.Equal(t, map[string]gate.UnsureState{
		"pending/b-pending/0": gate.UnsurePending, "pending/b-pending/1": gate.UnsureFree,
		"approved/b-approved/0": gate.UnsureApproved, "approved/b-approved/1": gate.UnsurePending,
		"started/b-started/0": gate.UnsureStarted, "elsewhere/b-elsewhere/0": gate.UnsureStarted, "run/b-run/0": gate.UnsureFree,
	}, state)
	require.Equal(t, []string{"back", "declined"}, certain)

	ended, err := silent(t, log, "b2").EndUnsure(t.Context(), rollback())
	require.NoError(t, err)
	require.Equal(t, found, ended)
	endedAsFound(t, log)
	left, err := silent(t, log, "b3").Unsure(t.Context())
	require.NoError(t, err)
	require.Empty(t, left)
}

// endedAsFound holds the end of the log against what was open in it, and sees to
// it that nothing of it runs any more.
func endedAsFound(t *testing.T, log *memLog) {
	t.Helper()
	h := open(t, log, "b9", time.Hour)
	want := map[string]events.Status{
		"pending": events.StatusAmbiguous, "approved": events.StatusAmbiguous, "started": events.StatusAmbiguous, "elsewhere": events.StatusAmbiguous,
		"run": events.StatusAmbiguous, "declined": events.StatusDeclined, "back": events.StatusCancelled, "ended": events.StatusOK,
	}
	for session, status := range want {
		var calls []fold.Call
		require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) {
			require.Nil(t, s.Run())
			for _, c := range s.Calls {
				calls = append(calls, *c)
			}
		}))
		for _, c := range calls {
			var ran atomic.Int32
			r, text := h.carry(t, session, c.Index, ok(&ran))
			require.Zero(t, ran.Load(), session)
			require.Equal(t, status, r.Status, session)
			require.Equal(t, 1, log.results(session, c.Index))
			if status == events.StatusAmbiguous {
				require.Equal(t, events.CauseExecutorLost, r.Cause)
				require.Contains(t, text, "may have been started")
			}
		}
	}
}

// Ending what is open is cut off after any number of appends, and done again: the
// log ends as if it had not been.
func TestEndingWhatIsOpenIsCutOff(t *testing.T) {
	for after := range 9 {
		log := unfinishedLog(t)
		h := silent(t, log, "b2")
		ctx, cancel := context.WithCancel(t.Context())
		left := after
		log.fail = func(string, []events.Draft) *fault {
			if left--; left >= 0 {
				return nil
			}
			cancel()
			return &fault{err: events.ErrLogStopped}
		}
		_, err := h.EndUnsure(ctx, rollback())
		require.Equal(t, after >= 8, err == nil, "after %d appends: %v", after, err)
		log.fail = nil
		_, err = silent(t, log, "b3").EndUnsure(t.Context(), rollback())
		require.NoError(t, err)
		endedAsFound(t, log)
		cancel()
	}
}

// More calls than one event names, and two nodes that agree on all of them.
func TestManyCallsOfALostPart(t *testing.T) {
	log := newMemLog(time.Now)
	h := turns(t, log)
	h.propose(t, "s", slices.Repeat([]string{"Bash"}, 150)...)
	h.stop()
	_, err := silent(t, log, "b2").EndUnsure(t.Context(), rollback())
	require.NoError(t, err)
	require.Equal(t, 3, log.count(events.TypeRecovered))
	here, there := open(t, log, "b3", time.Hour), openWith(t, log, time.Hour, func(o *gate.Options) { o.Node = "m" })
	for i := range 150 {
		r, _ := here.result(t, "s", i)
		other, _ := there.result(t, "s", i)
		require.Equal(t, events.StatusAmbiguous, r.Status)
		require.Equal(t, r, other)
		require.Equal(t, fold.Closed, there.request(t, "s", i).State)
	}
}

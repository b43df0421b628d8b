package projections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// A race is lost by seconds. Whoever starts a call long after that was over
// never waited for the log's word.
func TestTheWatchFindsStartsThatCameTooLate(t *testing.T) {
	const (
		ended = projections.ExecutedAfterDecline
		twice = projections.ExecutedTwice
		late  = 11 * time.Second
	)
	approved := func(l *tale) (pt.Call, pt.Request, string) {
		c, q := l.protected("b1")
		return c, q, l.Decide(q, l.ben, events.VerdictApprove, "")
	}
	again := func(q pt.Request, d string) func(*events.ToolStarted) {
		return func(e *events.ToolStarted) {
			e.Warrant, e.RequestDigest, e.Arguments = events.Warrant{Kind: events.WarrantDecision, Decision: d}, q.Digest, q.Arguments
		}
	}
	ends := func(l *tale, c pt.Call) {
		l.Append(events.Draft{Session: "s", Data: &events.ToolResult{CallKey: c.CallKey, Tool: c.Tool, Status: events.StatusError, Cause: events.CauseGateError}})
	}
	tales{
		"by the executor that started it": {func(l *tale) {
			c, q, d := approved(l)
			l.Start(c, &q, d)
			l.Start(c, &q, d) // at once: it is to start once
		}, []projections.Invariant{twice}},
		"by the executor that started a free call": {func(l *tale) {
			c := l.free("b1")
			l.Start(c, nil, "")
			l.told(c, "test/boot", events.StatusOK)
			l.Start(c, nil, "")
		}, []projections.Invariant{twice}},
		"by another, long after the first": {func(l *tale) {
			c, q, d := approved(l)
			l.Start(c, &q, d)
			l.Advance(late)
			l.byHand(c, again(q, d))
		}, []projections.Invariant{twice}},
		"by another, with a result of its own": {func(l *tale) {
			c, q, d := approved(l)
			l.Start(c, &q, d)
			l.byHand(c, again(q, d)) // it lost a race
			l.told(c, "intruder/boot", events.StatusOK)
		}, []projections.Invariant{twice}},
		"long after the approval lapsed": {func(l *tale) {
			c, q, d := approved(l)
			l.Advance(5*time.Minute + late)
			l.Start(c, &q, d)
		}, []projections.Invariant{ended}},
		"long after it was taken back": {func(l *tale) {
			c, q, d := approved(l)
			l.revoke(q, d)
			l.Advance(late)
			l.Start(c, &q, d)
		}, []projections.Invariant{ended}},
		"long after the call got its result": {func(l *tale) {
			c, q, d := approved(l)
			ends(l, c)
			l.Advance(late)
			l.Start(c, &q, d)
		}, []projections.Invariant{ended}},
		"long after the first of several ends": {func(l *tale) {
			c, q, d := approved(l)
			l.revoke(q, d)
			l.Advance(late)
			ends(l, c)
			l.Start(c, &q, d)
		}, []projections.Invariant{ended}},
		"long after the run was cancelled": {func(l *tale) {
			c := l.ofRun(l.Run("s", "carla", "go"), "b1", "Read", events.EffectAllow)
			l.cancel()
			l.Advance(late)
			l.Start(c, nil, "")
		}, []projections.Invariant{ended}},
		"long after the run was over": {func(l *tale) {
			c := l.ofRun(l.Run("s", "carla", "go"), "b1", "Read", events.EffectAllow)
			l.Append(events.Draft{Session: "s", Data: &events.RunFinished{RunID: "run-s", Reason: events.FinishError}})
			l.Advance(late)
			l.Start(c, nil, "")
		}, []projections.Invariant{ended}},
		"long after the bypass had ended": {func(l *tale) {
			c := l.ofRun(l.bypassing(time.Minute), "b1", "Bash", events.EffectAsk)
			l.Advance(time.Minute + late)
			l.byHand(c, func(e *events.ToolStarted) { e.Warrant = events.Warrant{Kind: events.WarrantBypass, ID: "run-s"} })
		}, []projections.Invariant{projections.ExecutedWithoutApproval}},
		"long after the call was proposed that was not counted": {func(l *tale) {
			l.free("b1")
			other := l.proposed("b1", "Read", events.EffectAllow, nil)
			l.Advance(late)
			l.Start(other, nil, "")
		}, []projections.Invariant{projections.DigestChanged}},
	}.hold(t)
}

// What the watch says names how late it was.
func TestALateStartSaysByHowMuch(t *testing.T) {
	l := newTale(t)
	c, q := l.protected("b1")
	d := l.Decide(q, l.ben, events.VerdictApprove, "")
	l.Advance(20 * time.Minute)
	l.Start(c, &q, d)
	found, err := viewsOf(t, l.Log).ViolationsOf(t.Context(), "s", 10)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "it starts a call whose approval had lapsed 15m0s before", found[0].Detail)
}

// What the watch keeps of a session follows from the log: it says the same where
// the views read on in a new process.
func TestLateStartsAreFoundAfterARestart(t *testing.T) {
	l := newTale(t)
	c, q := l.protected("b1")
	d := l.Decide(q, l.ben, events.VerdictApprove, "")
	l.revoke(q, d)
	path := t.TempDir() + "/views.db"
	v := open(t, path, l)
	follow(t, v, l.Len())
	require.NoError(t, v.Close())
	l.Advance(time.Minute)
	l.Start(c, &q, d)
	v = open(t, path, l)
	follow(t, v, l.Len())
	found, err := v.ViolationsOf(t.Context(), "s", 10)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "it starts a call whose approval was taken back 1m0s before", found[0].Detail)
}

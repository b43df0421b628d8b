package gate_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// Invariant 1: a start that somebody writes into the log by hand, even in the
// gate's own name, has no effect, and nothing runs because of it.
func TestAStartWrittenByHand(t *testing.T) {
	for _, verdict := range []events.Verdict{events.VerdictApprove, events.VerdictDecline} {
		log := newMemLog(time.Now)
		h := open(t, log, "b1", time.Minute)
		h.propose(t, "s", "Bash")
		q := h.request(t, "s", 0)
		var ran atomic.Int32
		carried := make(chan error, 1)
		go func() { carried <- h.Carry(t.Context(), "s", key("s", 0), ok(&ran)) }()
		for _, w := range []events.Warrant{
			{Kind: events.WarrantDecision, Decision: q.EventID},
			{Kind: events.WarrantRule, Rule: q.Rule, PolicyDigest: q.PolicyDigest},
			{Kind: events.WarrantBypass, ID: "r"},
			{Kind: events.WarrantStandingRule, ID: "always"},
		} {
			_, err := log.as(hand).Append(t.Context(), events.Draft{Session: "s", Data: &events.ToolStarted{
				CallKey: q.CallKey, Tool: q.Tool, Warrant: w, RequestDigest: q.Digest, Arguments: q.Arguments.CarriedBy(q.Carrier),
				Executor: h.Executor(), Enforcement: events.Enforced, Isolation: "none",
			}})
			require.NoError(t, err)
		}
		h.accepted(t, ruling(q, verdict, alice)) // so the fold has passed them
		require.NoError(t, <-carried)
		require.Equal(t, verdict == events.VerdictApprove, ran.Load() == 1)
		r, _ := h.result(t, "s", 0)
		require.Equal(t, verdict == events.VerdictApprove, r.Status == events.StatusOK)
	}
}

// slowLog takes its time for events of one type.
type slowLog struct {
	gate.Log
	typ  events.Type
	wait time.Duration
}

func (l slowLog) Append(ctx context.Context, drafts ...events.Draft) (events.Appended, error) {
	if drafts[len(drafts)-1].Data.Type() == l.typ {
		<-time.After(l.wait)
	}
	return l.Log.Append(ctx, drafts...)
}

// A slow log makes everything late and nothing wrong: what came too late by
// the log's time has no effect.
func TestASlowLog(t *testing.T) {
	for _, c := range []struct {
		name string
		slow events.Type
		wait time.Duration
		want events.Status
	}{
		{"a start, in time", events.TypeToolStarted, 50 * time.Second, events.StatusOK},
		{"a start, after the approval lapsed", events.TypeToolStarted, 70 * time.Second, events.StatusExpired},
		{"a decision, in time", events.TypeDecision, 50 * time.Second, events.StatusOK},
		{"a decision, after the deadline", events.TypeDecision, 70 * time.Second, events.StatusExpired},
		{"a result", events.TypeToolResult, time.Hour, events.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newMemLog(time.Now)
				h := openWith(t, log, time.Minute, func(o *gate.Options) {
					o.Log, o.JudgedWithin = slowLog{log.as("agentd/n/b1"), c.slow, c.wait}, time.Hour
				})
				h.propose(t, "s", "Bash")
				a, err := h.Decide(t.Context(), ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
				require.NoError(t, err)
				var ran atomic.Int32
				r, text := h.carry(t, "s", 0, ok(&ran))
				require.Equal(t, c.want, r.Status, text)
				require.Equal(t, c.want == events.StatusOK, ran.Load() == 1)
				if !a.Accepted {
					require.Contains(t, a.Reason, "its time is over")
				}
			})
		})
	}
}

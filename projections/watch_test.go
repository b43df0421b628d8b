package projections_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// tales are what is written into a log, and what the watch finds in it, in log
// order.
type tales map[string]struct {
	write func(l *tale)
	want  []projections.Invariant
}

func (all tales) hold(t *testing.T) {
	t.Helper()
	for name, tale := range all {
		t.Run(name, func(t *testing.T) {
			l := newTale(t)
			tale.write(l)
			require.Equal(t, tale.want, l.found())
		})
	}
}

// What a gate that works would never have written.
func TestTheWatchFinds(t *testing.T) {
	const (
		unapproved = projections.ExecutedWithoutApproval
		declined   = projections.ExecutedAfterDecline
		twice      = projections.ExecutedTwice
		changed    = projections.DigestChanged
		unstarted  = projections.ResultWithoutStart
	)
	otherText := func(e *events.ToolStarted) {
		e.Arguments = events.NewPayload([]byte(`{"x":"other"}`)).Ref(events.MediaJSON).CarriedBy(e.Arguments.In)
	}
	tales{
		"a start while the request waits": {func(l *tale) {
			c, _ := l.protected("b1")
			l.byHand(c, nil)
		}, []projections.Invariant{unapproved}},
		"a start that says it answers another call, which was not counted": {func(l *tale) {
			c, _ := l.protected("b1")
			again := l.proposed("b1", "Bash", events.EffectAsk, nil)
			c.Event = again.Event
			l.byHand(c, nil)
		}, []projections.Invariant{unapproved}},
		"a start of a call that must ask, and nobody was asked": {func(l *tale) {
			l.byHand(l.proposed("b1", "Bash", events.EffectAsk, nil), nil)
		}, []projections.Invariant{unapproved}},
		"a start of a call that was denied": {func(l *tale) {
			l.byHand(l.proposed("b1", "Drop", events.EffectDeny, nil), nil)
		}, []projections.Invariant{unapproved}},
		"a start of a call that nobody asked for": {func(l *tale) {
			c := l.free("b1")
			c.BatchID = "b2"
			l.byHand(c, nil)
		}, []projections.Invariant{unapproved}},
		"a start that names a decision which approved nothing": {func(l *tale) {
			c, q := l.protected("b1")
			l.Decide(q, l.ben, events.VerdictApprove, "")
			l.byHand(c, func(e *events.ToolStarted) {
				e.Warrant = events.Warrant{Kind: events.WarrantDecision, Decision: c.Event}
			})
		}, []projections.Invariant{unapproved}},
		"the record says allow, the policy asks": {func(l *tale) {
			c := l.proposed("b1", "Bash", events.EffectAllow, nil)
			l.Start(c, nil, "")
			l.told(c, "test/boot", events.StatusOK)
		}, []projections.Invariant{unapproved}},
		"the record says allow, the policy denies": {func(l *tale) {
			l.Start(l.proposed("b1", "Drop", events.EffectAllow, nil), nil, "")
		}, []projections.Invariant{unapproved}},
		"a person approved what the policy denies": {func(l *tale) {
			c := l.proposed("b1", "Drop", events.EffectAsk, nil)
			q := l.Ask(c, nil)
			l.Start(c, &q, l.Decide(q, l.ben, events.VerdictApprove, ""))
		}, []projections.Invariant{unapproved}},
		"a person approved a change that the policy of that time denies": {func(l *tale) {
			later, err := policy.Compile(policy.Config{DeniedTools: []string{"Bash"}})
			require.NoError(l.t, err)
			l.define(events.DefinePolicy, "policy", later.Document())
			c, q := l.protected("b1")
			q.PolicyDigest = events.Digest(later.Digest())
			q, d := l.Modify(q, l.ben, `{"x":"y"}`)
			l.Start(c, &q, d)
		}, []projections.Invariant{unapproved}},
		"a start after a decline": {func(l *tale) {
			c, q := l.protected("b1")
			l.Decide(q, l.ben, events.VerdictDecline, "")
			l.byHand(c, nil)
			l.Result(c, events.StatusDeclined, events.CauseHuman, "declined")
			l.byHand(c, nil)
		}, []projections.Invariant{declined, declined}},
		"a start of a request that a result closed": {func(l *tale) {
			c, _ := l.protected("b1")
			l.Result(c, events.StatusStale, events.CauseStale, "stale")
			l.byHand(c, nil)
		}, []projections.Invariant{declined}},
		"other arguments than were approved": {func(l *tale) {
			c, q := l.protected("b1")
			d := l.Decide(q, l.ben, events.VerdictApprove, "")
			l.byHand(c, func(e *events.ToolStarted) {
				e.Warrant, e.RequestDigest = events.Warrant{Kind: events.WarrantDecision, Decision: d}, q.Digest
				otherText(e)
			})
		}, []projections.Invariant{changed}},
		"other arguments than were let run": {func(l *tale) { l.byHand(l.free("b1"), otherText) }, []projections.Invariant{changed}},
		"another tool than was asked for": {func(l *tale) {
			l.byHand(l.free("b1"), func(e *events.ToolStarted) { e.Tool = "Write" })
		}, []projections.Invariant{changed}},
		"a second result of the executor": {func(l *tale) {
			c := l.free("b1")
			l.Start(c, nil, "")
			l.told(c, "test/boot", events.StatusOK)
			l.told(c, "test/boot", events.StatusError)
		}, []projections.Invariant{twice}},
		"a result by an executor whose start did not count": {func(l *tale) {
			c := l.free("b1")
			l.Start(c, nil, "")
			l.byHand(c, nil)
			l.told(c, "intruder/boot", events.StatusOK)
			l.told(c, "test/boot", events.StatusOK)
		}, []projections.Invariant{twice}},
		"a result without a start": {func(l *tale) {
			c, _ := l.protected("b1")
			l.told(c, "intruder/boot", events.StatusOK)
		}, []projections.Invariant{unstarted}},
		"a result that tells of a run after the call had ended": {func(l *tale) {
			c, q := l.protected("b1")
			l.Decide(q, l.ben, events.VerdictDecline, "")
			l.Result(c, events.StatusDeclined, events.CauseHuman, "declined")
			l.told(c, "intruder/boot", events.StatusError)
		}, []projections.Invariant{unstarted}},
		"a result of a call that nobody asked for": {func(l *tale) {
			c := l.free("b1")
			c.BatchID = "b2"
			l.told(c, "intruder/boot", events.StatusOK)
		}, []projections.Invariant{unstarted}},
		"a free call under another rule than its own": {func(l *tale) {
			c := l.free("b1")
			l.Start(c, nil, "") // or else: it lost a race against this
			l.byHand(c, func(e *events.ToolStarted) { e.Warrant.Rule = "allowed-tools" })
		}, []projections.Invariant{unapproved}},
		"a free call under a bypass that nobody granted": {func(l *tale) {
			l.byHand(l.free("b1"), func(e *events.ToolStarted) { e.Warrant = events.Warrant{Kind: events.WarrantBypass, ID: "run-s"} })
		}, []projections.Invariant{unapproved}},
		"another text under a bypass": {func(l *tale) {
			l.byHand(l.ofRun(l.bypassing(time.Hour), "b1", "Bash", events.EffectAsk), func(e *events.ToolStarted) {
				e.Warrant = events.Warrant{Kind: events.WarrantBypass, ID: "run-s"}
				otherText(e)
			})
		}, []projections.Invariant{changed}},
		"a free start of another text under a key that is used": {func(l *tale) {
			c := l.free("b1")
			l.Start(c, nil, "")
			other := l.proposed("b1", "Read", events.EffectAllow, nil) // not counted
			l.byHand(other, otherText)
		}, []projections.Invariant{changed}},
		"and under another rule than the call's": {func(l *tale) {
			l.free("b1")
			l.byHand(l.proposed("b1", "Read", events.EffectAllow, nil), func(e *events.ToolStarted) { e.Warrant.Rule = "allowed-tools" })
		}, []projections.Invariant{unapproved}},
		"and under another key than the call's": {func(l *tale) {
			l.free("b1")
			l.byHand(l.proposed("b1", "Read", events.EffectAllow, nil), func(e *events.ToolStarted) { e.BatchID = "b2" })
		}, []projections.Invariant{unapproved}},
		"and by another program than proposed the call": {func(l *tale) {
			l.free("b1")
			other := l.proposed("b1", "Read", events.EffectAllow, nil)
			l.from("intruder/boot", func() { l.Start(other, nil, "") })
		}, []projections.Invariant{changed}},
		"and of a call whose policy asks": {func(l *tale) {
			l.Start(l.free("b1"), nil, "")
			l.Start(l.proposed("b1", "Bash", events.EffectAllow, nil), nil, "") // not counted
		}, []projections.Invariant{unapproved}},
		"a start that lost its race, of a call whose policy asks": {func(l *tale) {
			c := l.ofRun(l.Run("s", "carla", "go"), "b1", "Bash", events.EffectAllow)
			l.cancel()
			l.Start(c, nil, "")
		}, []projections.Invariant{unapproved}},
	}.hold(t)
}

// What a gate that works may well write: races that were lost, and what is
// found after a crash. Nothing ran that should not have.
func TestTheWatchDoesNotCryWolf(t *testing.T) {
	approved := func(l *tale) (pt.Call, pt.Request, string) {
		c, q := l.protected("b1")
		return c, q, l.Decide(q, l.ben, events.VerdictApprove, "")
	}
	for name, write := range map[string]func(l *tale){
		"free":     func(l *tale) { c := l.free("b1"); l.Start(c, nil, ""); l.told(c, "test/boot", events.StatusOK) },
		"approved": func(l *tale) { c, q, d := approved(l); l.Start(c, &q, d); l.told(c, "test/boot", events.StatusOK) },
		"changed and approved": func(l *tale) {
			c, q := l.protected("b1")
			q, d := l.Modify(q, l.ben, `{"x":"y"}`)
			l.Start(c, &q, d)
			l.told(c, "test/boot", events.StatusError)
		},
		"declined": func(l *tale) {
			c, q := l.protected("b1")
			l.Decide(q, l.ben, events.VerdictDecline, "no")
			l.Result(c, events.StatusDeclined, events.CauseHuman, "declined")
		},
		"a start that comes after the revocation": func(l *tale) { c, q, d := approved(l); l.revoke(q, d); l.Start(c, &q, d) },
		"a start that comes after the approval lapsed": func(l *tale) {
			c, q, d := approved(l)
			l.Advance(5*time.Minute + 5*time.Second)
			l.Start(c, &q, d)
			l.Result(c, events.StatusExpired, events.CauseTimeout, "lapsed")
		},
		"the same start by two nodes": func(l *tale) {
			c, q, d := approved(l)
			l.Start(c, &q, d)
			l.byHand(c, func(e *events.ToolStarted) {
				e.Warrant, e.RequestDigest, e.Arguments = events.Warrant{Kind: events.WarrantDecision, Decision: d}, q.Digest, q.Arguments
			})
			l.told(c, "test/boot", events.StatusOK)
		},
		"a start that comes after its run was cancelled": func(l *tale) {
			c := l.ofRun(l.Run("s", "carla", "go"), "b1", "Read", events.EffectAllow)
			l.cancel()
			l.Advance(9 * time.Second)
			l.Start(c, nil, "")
		},
		"a call that comes with its start after its run was cancelled": func(l *tale) {
			run := l.Run("s", "carla", "go")
			l.cancel()
			l.Advance(time.Minute)
			l.Start(l.ofRun(run, "b1", "Read", events.EffectAllow), nil, "")
		},
		"a start that comes after its bypass had ended": func(l *tale) {
			c := l.ofRun(l.bypassing(time.Minute), "b1", "Bash", events.EffectAsk)
			l.Advance(time.Minute + 5*time.Second)
			l.byHand(c, func(e *events.ToolStarted) { e.Warrant = events.Warrant{Kind: events.WarrantBypass, ID: "run-s"} })
		},
		"starts in a session that is blocked": func(l *tale) {
			c := l.free("b1")
			l.AppendRaw("s", bytes.ReplaceAll(envelope(true), []byte(`"s1"`), []byte(`"s"`)))
			l.Start(c, nil, "")
			l.Start(c, nil, "")
		},
		"a start that comes after its own call was ended": func(l *tale) {
			c, q, d := approved(l)
			l.Append(events.Draft{Session: "s", Data: &events.ToolResult{
				CallKey: c.CallKey, Tool: c.Tool, Status: events.StatusError, Cause: events.CauseGateError,
			}})
			l.Start(c, &q, d)
		},
		"an executor that was taken for lost tells its result": func(l *tale) {
			c := l.free("b1")
			l.Start(c, nil, "")
			l.told(c, "", events.StatusAmbiguous)
			l.told(c, "test/boot", events.StatusOK)
		},
		"two nodes end a call that never started": func(l *tale) {
			c, q := l.protected("b1")
			l.End(q, events.CauseCancelled)
			l.Result(c, events.StatusCancelled, events.CauseCancelled, "cancelled")
			l.Result(c, events.StatusCancelled, events.CauseCancelled, "cancelled")
		},
		"late and repeated decisions": func(l *tale) {
			_, q, d := approved(l)
			l.Decide(q, l.ben, events.VerdictDecline, "too late")
			l.revoke(q, d)
			l.revoke(q, d)
		},
		"a call that was not counted, with its start": func(l *tale) {
			l.protected("b1")
			again := l.proposed("b1", "Read", events.EffectAllow, nil) // its key was used
			l.Start(again, nil, "")
			gone := l.proposed("b2", "Read", events.EffectAllow, func(e *events.ToolCall) { e.RunID = "over" })
			l.Start(gone, nil, "")
		},
		"a call that was seen from outside": func(l *tale) {
			c := l.proposed("b1", "Bash", events.EffectAsk, func(e *events.ToolCall) { e.Enforcement = events.Observed })
			l.told(c, "elsewhere", events.StatusOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newTale(t)
			write(l)
			require.Empty(t, l.found())
		})
	}
}

// A policy whose text the log does not tell any more is no violation: it cannot
// be judged again, and that is counted, and said of the session.
func TestTheWatchSaysWhatItCannotVerify(t *testing.T) {
	l := newTale(t)
	untold := func(e *events.ToolCall) { e.PolicyDigest = pt.Digest("never told") }
	l.Start(l.proposed("b1", "Bash", events.EffectAllow, nil), nil, "") // would be found
	l.Start(l.proposed("b2", "Read", events.EffectAllow, untold), nil, "")
	l.Start(l.proposed("b2", "Bash", events.EffectAllow, untold), nil, "") // its key is used
	l.Erase(l.event)
	v := viewsOf(t, l.Log)
	require.Empty(t, l.found())
	session, err := v.Session(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, 3, session.Unverified)
	m := scrape(t, v)
	require.Equal(t, 3, int(m[`countersign_watch_starts_total{finding="unverified"}`]))
	require.Equal(t, 0, int(m[`countersign_watch_starts_total{finding="violation"}`]))
	require.Equal(t, 0, int(m[`countersign_watch_starts_total{finding="good"}`]))
}

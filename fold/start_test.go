package fold_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

var (
	approved = after(asked, step{1, approve(alice), ""})
	allowed  = []step{{0, free(), ""}}
)

// Invariants 1, 3 and 5: what a start must name, and when it counts.
func TestStartsOfApprovedCalls(t *testing.T) {
	other := events.DigestOf([]byte("other"))
	named := func(w events.Warrant) draft { return start(warrant(w)) }
	byApproval := func(f func(*events.ToolStarted)) draft { return start(f) }
	for _, c := range []struct {
		name   string
		before []step
		what   draft
		want   fold.Reason
	}{
		{"approved", approved, start(), ""},
		{"pending", asked, named(events.Warrant{Kind: events.WarrantDecision, Decision: ident(1)}), fold.ReasonNoWarrant},
		{"declined", after(asked, step{1, decline(alice), ""}), func(b *book) events.Draft {
			return named(events.Warrant{Kind: events.WarrantDecision, Decision: b.last[events.TypeDecision].ID})(b)
		}, fold.ReasonNoWarrant},
		{"timed out", after(asked, step{hour, says(events.CauseTimeout), ""}), func(b *book) events.Draft {
			return named(events.Warrant{Kind: events.WarrantDecision, Decision: b.last[events.TypeDecision].ID})(b)
		}, fold.ReasonNoWarrant},
		{"half a quorum", []step{{0, call(), ""}, {0, ask(quorum(2)), ""}, {1, approve(alice), ""}}, start(), fold.ReasonNoWarrant},
		{"by a decision that is not the one", approved, named(events.Warrant{Kind: events.WarrantDecision, Decision: ident(1)}), fold.ReasonNoWarrant},
		{"by the request", approved, func(b *book) events.Draft {
			return named(events.Warrant{Kind: events.WarrantDecision, Decision: b.last[events.TypeApprovalRequest].ID})(b)
		}, fold.ReasonNoWarrant},
		{"by the rule that asks", approved, named(events.Warrant{Kind: events.WarrantRule, Rule: "required-tools", PolicyDigest: rule}), fold.ReasonNoWarrant},
		{"by a bypass that nobody has", approved, named(events.Warrant{Kind: events.WarrantBypass, ID: "run"}), fold.ReasonNoWarrant},
		{"by a standing rule that nothing grants", approved, named(events.Warrant{Kind: events.WarrantStandingRule, ID: "rule"}), fold.ReasonNoWarrant},
		{"with another digest", approved, byApproval(func(e *events.ToolStarted) { e.RequestDigest = other }), fold.ReasonOtherDigest},
		{"with other arguments", approved, byApproval(func(e *events.ToolStarted) { e.Arguments = text("{}") }), fold.ReasonOtherDigest},
		{"of another tool", approved, byApproval(func(e *events.ToolStarted) { e.Tool = "Write" }), fold.ReasonOtherDigest},
		{"of another call", approved, byApproval(func(e *events.ToolStarted) { e.Index = 1 }), fold.ReasonUnknownCall},
		{
			"with the model's text, where a revision was approved", after(asked, step{1, modify(alice, "{}"), ""}, step{2, revise(1, "alice", "{}"), ""}),
			byApproval(func(e *events.ToolStarted) { e.Arguments = text(`{"command":"ls"}`) }), fold.ReasonOtherDigest,
		},
		{"with the revision's text", after(asked, step{1, modify(alice, "{}"), ""}, step{2, revise(1, "alice", "{}"), ""}), start(), ""},
		{"revoked", after(approved, step{2, revoke(bob), ""}), start(), fold.ReasonNoWarrant},
		{"lost with a part of the log", after(approved, step{2, loses(key), ""}), start(), fold.ReasonEnded},
		{"lost, named twice", after(approved, step{2, loses(key), ""}), loses(key), fold.ReasonEnded},
		{"ended", after(approved, step{2, ends(events.StatusError, events.CauseGateError), ""}), start(), fold.ReasonEnded},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := write(t, after(c.before, step{hour / 2, func(b *book) events.Draft { b.now = epoch.Add(10); return c.what(b) }, c.want})...)
			require.Equal(t, c.want == "", b.call().Start != nil)
		})
	}
}

func TestAnApprovalLapses(t *testing.T) {
	for _, c := range []struct {
		at   time.Duration
		want fold.Reason
	}{{within, ""}, {time.Second + within, ""}, {time.Second + within + time.Microsecond, fold.ReasonTooLate}} {
		write(t, after(asked, step{time.Second, approve(alice), ""}, step{c.at, start(), c.want})...)
	}
}

// Invariant 3: one start, whoever tries.
func TestACallStartsOnce(t *testing.T) {
	elsewhere := func(e *events.ToolStarted) { e.Executor = "m/b7" }
	b := write(t, after(approved, step{2, start(), ""}, step{3, start(), fold.ReasonStarted}, step{4, start(elsewhere), fold.ReasonStarted})...)
	require.Equal(t, me, b.call().Start.Executor)
	write(t, after(approved, step{2, start(), ""}, step{3, tells(events.StatusOK, events.CauseHuman, me), ""}, step{4, start(), fold.ReasonStarted})...)
}

func TestStartsByARule(t *testing.T) {
	policy := func(d events.Digest) events.Warrant {
		return events.Warrant{Kind: events.WarrantRule, Rule: "default", PolicyDigest: d}
	}
	denied := func(e *events.ToolCall) { e.Effect = events.EffectDeny }
	for _, c := range []struct {
		name   string
		before []step
		what   draft
		want   fold.Reason
	}{
		{"the recorded rule allows", allowed, byRule(), ""},
		{"another rule", allowed, byRule(warrant(events.Warrant{Kind: events.WarrantRule, Rule: "allowed-tools", PolicyDigest: rule})), fold.ReasonNoWarrant},
		{"another policy", allowed, byRule(warrant(policy(events.DigestOf([]byte("old"))))), fold.ReasonNoWarrant},
		{"another digest", allowed, byRule(func(e *events.ToolStarted) { e.RequestDigest = rule }), fold.ReasonOtherDigest},
		{"other arguments", allowed, byRule(func(e *events.ToolStarted) { e.Arguments = text("{}") }), fold.ReasonOtherDigest},
		{"a call that is denied", []step{{0, free(denied), ""}}, byRule(), fold.ReasonNoWarrant},
		{"a call that must ask, and nobody was asked", []step{{0, call(), ""}}, byRule(warrant(events.Warrant{Kind: events.WarrantRule, Rule: "required-tools", PolicyDigest: rule})), fold.ReasonNoWarrant},
		{"a decision where nobody was asked", allowed, start(warrant(events.Warrant{Kind: events.WarrantDecision, Decision: ident(1)})), fold.ReasonNoWarrant},
	} {
		t.Run(c.name, func(t *testing.T) { write(t, after(c.before, step{1, c.what, c.want})...) })
	}
}

// A bypass frees the calls of its own run until its end, and never beats deny.
func TestStartsByABypass(t *testing.T) {
	bypass := func(until time.Duration) func(*events.RunStarted) {
		return func(e *events.RunStarted) {
			e.Bypass = &events.Bypass{Reason: text("night"), Until: events.At(epoch.Add(until)), Actor: *alice}
		}
	}
	effect := func(is events.Effect) func(*events.ToolCall) {
		return func(e *events.ToolCall) { e.Effect = is }
	}
	by := func(run string) draft { return start(warrant(events.Warrant{Kind: events.WarrantBypass, ID: run})) }
	for _, c := range []struct {
		name   string
		before []step
		at     time.Duration
		what   draft
		want   fold.Reason
	}{
		{"before its end", []step{{0, runs("r", "carla", bypass(hour)), ""}, {1, call(inRun("r")), ""}}, 2, by("r"), ""},
		{"at its end", []step{{0, runs("r", "carla", bypass(hour)), ""}, {1, call(inRun("r")), ""}}, hour, by("r"), ""},
		{"after its end", []step{{0, runs("r", "carla", bypass(hour)), ""}, {1, call(inRun("r")), ""}}, hour + time.Microsecond, by("r"), fold.ReasonNoWarrant},
		{"against deny", []step{{0, runs("r", "carla", bypass(hour)), ""}, {1, call(inRun("r"), effect(events.EffectDeny)), ""}}, 2, by("r"), fold.ReasonNoWarrant},
		{"a run without one", []step{{0, runs("r", "carla"), ""}, {1, call(inRun("r")), ""}}, 2, by("r"), fold.ReasonNoWarrant},
		{"another run's", []step{{0, runs("q", "carla", bypass(hour)), ""}, {1, finishes("q"), ""}, {1, runs("r", "carla"), ""}, {1, call(inRun("r")), ""}}, 2, by("q"), fold.ReasonNoWarrant},
		{"a call of no run", []step{{0, runs("r", "carla", bypass(hour)), ""}, {1, call(), ""}}, 2, by("r"), fold.ReasonNoWarrant},
		{"a call that somebody was asked about", []step{{0, runs("r", "carla", bypass(hour)), ""}, {1, call(inRun("r")), ""}, {1, ask(), ""}}, 2, by("r"), fold.ReasonNoWarrant},
		{"a cancelled run", []step{{0, runs("r", "carla", bypass(hour)), ""}, {1, call(inRun("r")), ""}, {1, cancels("r"), ""}}, 2, by("r"), fold.ReasonEnded},
	} {
		t.Run(c.name, func(t *testing.T) { write(t, after(c.before, step{c.at, c.what, c.want})...) })
	}
}

func TestNothingStartsInARunThatIsOver(t *testing.T) {
	inR := []step{{0, runs("r", "carla"), ""}, {1, call(inRun("r")), ""}, {1, ask(), ""}, {2, approve(alice), ""}}
	write(t, after(inR, step{3, start(), ""})...)
	write(t, after(inR, step{3, cancels("r"), ""}, step{4, start(), fold.ReasonEnded})...)
	write(t, after(inR, step{3, finishes("r"), ""}, step{4, start(), fold.ReasonEnded})...)
	write(t, after(inR, step{3, finishes("r"), ""}, step{4, runs("q", "carla"), ""}, step{5, start(), fold.ReasonEnded})...)
}

// A critical record that this build cannot read stops the starts of its
// session: who knows what it permits or forbids.
func TestWhatCannotBeReadBlocksStarts(t *testing.T) {
	for _, c := range []struct {
		name, was, now string
		want           fold.Reason
	}{
		{"a critical type of another build", `decision`, `verdicts`, fold.ReasonBlocked},
		{"a version of another build", `/schemas/decision/1`, `/schemas/decision/2`, fold.ReasonBlocked},
		{"a type that moves nothing", `"critical":true,`, ``, ""},
		{"a malformed one", `"verdict":"decline"`, `"verdict":"perhaps"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := write(t, approved...)
			o := raw(t, b, says(events.CauseCancelled), c.was, c.now)
			require.Equal(t, fold.Outcome{Reason: fold.ReasonUnreadable}, o)
			require.Equal(t, c.want, b.add(start()(b)).Reason)
			require.Equal(t, c.want != "", b.Blocked != "")
			if c.want != "" {
				require.True(t, b.add(ends(events.StatusError, events.CauseGateError)(b)).Counts, "what ends a call goes on")
			}
		})
	}
}

func TestRevocations(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []step
		what   draft
		want   fold.Reason
	}{
		{"before the start", approved, revoke(bob), ""},
		{"by who approved", approved, revoke(alice), ""},
		{"by somebody who may not decide", approved, revoke(&events.Actor{Person: "eve", Roles: []string{"agent"}, Groups: []string{}, Method: "token"}), fold.ReasonNotPermitted},
		{"of another decision", approved, revoke(bob, func(e *events.Revocation) { e.Decision = ident(1) }), fold.ReasonNotPending},
		{"of an unknown request", approved, revoke(bob, func(e *events.Revocation) { e.RequestID = "r2" }), fold.ReasonUnknownRequest},
		{"twice", after(approved, step{2, revoke(bob), ""}), revoke(bob), fold.ReasonNotPending},
		{"after the start", after(approved, step{2, start(), ""}), revoke(bob), fold.ReasonStarted},
		{"after the result", after(approved, step{2, ends(events.StatusError, events.CauseGateError), ""}), revoke(bob), fold.ReasonStarted},
		{"while pending", asked, revoke(bob, func(e *events.Revocation) { e.Decision = ident(1) }), fold.ReasonNotPending},
		{"of a decline", after(asked, step{1, decline(alice), ""}), func(b *book) events.Draft {
			return revoke(bob, func(e *events.Revocation) { e.Decision = b.last[events.TypeDecision].ID })(b)
		}, fold.ReasonNotPending},
	} {
		t.Run(c.name, func(t *testing.T) { write(t, after(c.before, step{hour, c.what, c.want})...) })
	}
}

package fold_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

var (
	alice, bob, carla = person("alice"), person("bob"), person("carla")

	asked = []step{{0, call(), ""}, {0, ask(), ""}}
)

// after is some steps that follow others.
func after(before []step, more ...step) []step { return append(append([]step{}, before...), more...) }

// Invariants 4 and 6: whether a decision counts depends on its cause and its
// place alone.
func TestDecisionsByCauseBeforeAtAndAfterTheDeadline(t *testing.T) {
	const early, late = timeout - time.Microsecond, timeout + time.Microsecond
	none := fold.Reason("")
	approves, declines := events.VerdictApprove, events.VerdictDecline
	for _, c := range []struct {
		name              string
		verdict           events.Verdict
		cause             events.Cause
		actor             *events.Actor
		before, at, after fold.Reason
	}{
		{"a person approves", approves, events.CauseHuman, alice, none, none, fold.ReasonTooLate},
		{"a person declines", declines, events.CauseHuman, alice, none, none, fold.ReasonTooLate},
		{"a handler approves", approves, events.CauseHandler, alice, none, none, fold.ReasonTooLate},
		{"a handler declines", declines, events.CauseHandler, alice, none, none, fold.ReasonTooLate},
		{"a time-out", declines, events.CauseTimeout, nil, fold.ReasonTooEarly, fold.ReasonTooEarly, none},
		{"a cancellation", declines, events.CauseCancelled, nil, none, none, none},
		{"a new query", declines, events.CauseSuperseded, nil, none, none, none},
		{"the gate's own error", declines, events.CauseGateError, nil, none, none, none},
		{"a time-out never approves", approves, events.CauseTimeout, nil, fold.ReasonTooEarly, fold.ReasonTooEarly, fold.ReasonNotPermitted},
		{"a cancellation never approves", approves, events.CauseCancelled, nil, fold.ReasonNotPermitted, fold.ReasonNotPermitted, fold.ReasonNotPermitted},
		{"an error never approves", approves, events.CauseGateError, nil, fold.ReasonNotPermitted, fold.ReasonNotPermitted, fold.ReasonNotPermitted},
		{"policy decides no request", declines, events.CausePolicy, nil, fold.ReasonNotPermitted, fold.ReasonNotPermitted, fold.ReasonNotPermitted},
		{"a standing rule decides none", approves, events.CauseStandingRule, nil, fold.ReasonNotPermitted, fold.ReasonNotPermitted, fold.ReasonNotPermitted},
		{"a bypass decides none", approves, events.CauseBypass, nil, fold.ReasonNotPermitted, fold.ReasonNotPermitted, fold.ReasonNotPermitted},
		{"a lost executor decides none", declines, events.CauseExecutorLost, nil, fold.ReasonNotPermitted, fold.ReasonNotPermitted, fold.ReasonNotPermitted},
	} {
		t.Run(c.name, func(t *testing.T) {
			handled := []step{{0, call(), ""}, {0, ask(func(e *events.ApprovalRequest) { e.Handlers = true }), ""}}
			write(t, after(handled, step{early, decide(c.verdict, c.cause, c.actor), c.before})...)
			write(t, after(handled, step{timeout, decide(c.verdict, c.cause, c.actor), c.at})...)
			write(t, after(handled, step{late, decide(c.verdict, c.cause, c.actor), c.after})...)
		})
	}
}

func TestOneDecisionEndsARequest(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []step
		state fold.RequestState
		cause events.Cause
	}{
		{"an approve", []step{{1, approve(alice), ""}, {2, decline(bob), fold.ReasonNotPending}}, fold.Approved, events.CauseHuman},
		{"a decline", []step{{1, decline(bob), ""}, {2, approve(alice), fold.ReasonNotPending}}, fold.Declined, events.CauseHuman},
		{"a time-out", []step{{hour, says(events.CauseTimeout), ""}, {hour, approve(alice), fold.ReasonNotPending}}, fold.Declined, events.CauseTimeout},
		{"a late approve before the time-out", []step{{hour, approve(alice), fold.ReasonTooLate}, {hour, says(events.CauseTimeout), ""}}, fold.Declined, events.CauseTimeout},
		{"an approve, then a time-out", []step{{1, approve(alice), ""}, {hour, says(events.CauseTimeout), fold.ReasonNotPending}}, fold.Approved, events.CauseHuman},
		{"a cancellation, then a person", []step{{1, says(events.CauseCancelled), ""}, {2, decline(alice), fold.ReasonNotPending}}, fold.Declined, events.CauseCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := write(t, after(asked, c.steps...)...)
			require.Equal(t, c.state, b.request().State)
			require.Equal(t, c.cause, b.request().End.Cause)
			require.Equal(t, c.cause == events.CauseHuman, b.request().End.Actor != nil, "invariant 6: a person stands behind a human cause alone")
		})
	}
}

func TestWhatADecisionMustName(t *testing.T) {
	other := events.DigestOf([]byte("another text"))
	for _, c := range []struct {
		name string
		what draft
		want fold.Reason
	}{
		{"the current digest", approve(alice), ""},
		{"another digest", approve(alice, func(e *events.Decision) { e.RequestDigest = other }), fold.ReasonOtherDigest},
		{"another digest, to decline", decline(alice, func(e *events.Decision) { e.RequestDigest = other }), fold.ReasonOtherDigest},
		{"the call's digest", func(b *book) events.Draft {
			return approve(alice, func(e *events.Decision) { e.RequestDigest = b.last[events.TypeToolCall].Digest() })(b)
		}, fold.ReasonOtherDigest},
		{"other arguments than it approves", approve(alice, func(e *events.Decision) { e.Arguments = text("{}") }), fold.ReasonOtherDigest},
		{"an unknown request", approve(alice, func(e *events.Decision) { e.RequestID = "r2" }), fold.ReasonUnknownRequest},
		{"an empty request", approve(alice, func(e *events.Decision) { e.RequestID = "R" }), fold.ReasonUnknownRequest},
	} {
		t.Run(c.name, func(t *testing.T) { write(t, after(asked, step{1, c.what, c.want})...) })
	}
}

func TestWhoMayDecide(t *testing.T) {
	role := func(roles ...string) *events.Actor { a := person("dora"); a.Roles = roles; return a }
	lists := func(approvers ...string) func(*events.ApprovalRequest) {
		return func(e *events.ApprovalRequest) { e.Approvers = approvers }
	}
	for _, c := range []struct {
		name  string
		terms func(*events.ApprovalRequest)
		actor *events.Actor
		want  fold.Reason
	}{
		{"a reviewer", lists(), alice, ""},
		{"an admin", lists(), role("admin"), ""},
		{"an agent", lists(), role("agent"), fold.ReasonNotPermitted},
		{"an auditor", lists(), role("auditor", "agent"), fold.ReasonNotPermitted},
		{"nobody's role", lists(), role(), fold.ReasonNotPermitted},
		{"a reviewer in letters of another size", lists(), role("Reviewer"), fold.ReasonNotPermitted},
		{"the group", lists("group:sre"), person("alice", "sre"), ""},
		{"another group", lists("group:sre"), person("alice", "dev"), fold.ReasonNotPermitted},
		{"a group of the list's whole word", lists("group:sre"), person("alice", "group:sre"), fold.ReasonNotPermitted},
		{"a person named as a group", lists("group:alice"), alice, fold.ReasonNotPermitted},
		{"the person", lists("person:alice"), alice, ""},
		{"another person", lists("person:alice"), bob, fold.ReasonNotPermitted},
		{"one of two groups", lists("group:sre", "group:dev"), person("alice", "dev"), ""},
		{"the requester", lists(), carla, ""},
		{"the requester, with four eyes", fourEyes, carla, fold.ReasonNotPermitted},
		{"another, with four eyes", fourEyes, alice, ""},
		{"an admin outside the list", lists("group:sre"), role("admin"), fold.ReasonNotPermitted},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := []step{{0, call(), ""}, {0, ask(c.terms), ""}}
			write(t, after(before, step{1, approve(c.actor), c.want})...)
			write(t, after(before, step{1, decline(c.actor), c.want})...)
		})
	}
}

func TestAHandlerDecidesOnlyWhereTheTermsAdmitIt(t *testing.T) {
	write(t, after(asked, step{1, decide(events.VerdictApprove, events.CauseHandler, alice), fold.ReasonNotPermitted})...)
}

func TestAQuorumIsOfDifferentPeople(t *testing.T) {
	two := []step{{0, call(), ""}, {0, ask(quorum(2)), ""}}
	for _, c := range []struct {
		name   string
		steps  []step
		state  fold.RequestState
		needed int
	}{
		{"nobody yet", nil, fold.Pending, 2},
		{"one", []step{{1, approve(alice), ""}}, fold.Pending, 1},
		{"one twice", []step{{1, approve(alice), ""}, {2, approve(alice), fold.ReasonVoted}}, fold.Pending, 1},
		{"two", []step{{1, approve(alice), ""}, {2, approve(bob), ""}}, fold.Approved, 0},
		{"one declines", []step{{1, approve(alice), ""}, {2, decline(bob), ""}, {3, approve(bob), fold.ReasonNotPending}}, fold.Declined, 0},
		{"the one who approved declines", []step{{1, approve(alice), ""}, {2, decline(alice), ""}}, fold.Declined, 0},
		{"the second is late", []step{{1, approve(alice), ""}, {hour, approve(bob), fold.ReasonTooLate}, {hour, says(events.CauseTimeout), ""}}, fold.Declined, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := write(t, after(two, c.steps...)...)
			require.Equal(t, c.state, b.request().State)
			require.Equal(t, c.needed, b.request().Needed())
			if c.state == fold.Pending {
				b.now = b.now.Add(1)
				require.Equal(t, fold.ReasonNoWarrant, b.add(start(warrant(events.Warrant{Kind: events.WarrantDecision, Decision: ident(1)}))(b)).Reason, "invariant 1")
			}
		})
	}
}

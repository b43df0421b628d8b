package gate_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// handled is a proposal of somebody who has an approval handler.
func handled(session string, calls ...string) gate.Proposal {
	p := proposal(session, "", calls...)
	p.Handlers = true
	return p
}

func handlerSays(q *fold.Request, verdict events.Verdict, arguments string) gate.HandlerRuling {
	return gate.HandlerRuling{
		RequestID: q.RequestID, RequestDigest: q.Digest, Handler: "ci", Verdict: verdict, Arguments: []byte(arguments), Comment: "not on a Friday",
	}
}

// Invariant 6: what a handler said is its own; what it failed to say is the
// gate's, and never a person's.
func TestWhatAHandlerSays(t *testing.T) {
	tests := map[string]struct {
		verdict   events.Verdict
		arguments string
		failed    string
		status    events.Status
		cause     events.Cause
		text      string
	}{
		"approve":           {verdict: events.VerdictApprove, status: events.StatusOK, cause: events.CauseHandler, text: `{"command":"ls"}`},
		"modify":            {verdict: events.VerdictModify, arguments: changed, status: events.StatusOK, cause: events.CauseHandler, text: changed},
		"decline":           {verdict: events.VerdictDecline, status: events.StatusDeclined, cause: events.CauseHandler, text: "Declined by the program's approval handler. Its comment: not on a Friday"},
		"no such verdict":   {verdict: "sure", status: events.StatusError, cause: events.CauseGateError, text: "no person's refusal"},
		"no verdict":        {status: events.StatusError, cause: events.CauseGateError, text: "no person's refusal"},
		"unfit arguments":   {verdict: events.VerdictModify, arguments: `{"cmd":1}`, status: events.StatusError, cause: events.CauseGateError, text: "no person's refusal"},
		"arguments missing": {verdict: events.VerdictModify, status: events.StatusError, cause: events.CauseGateError, text: "no person's refusal"},
		"failed":            {verdict: events.VerdictApprove, failed: "no route", status: events.StatusError, cause: events.CauseGateError, text: "no person's refusal"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := open(t, newMemLog(time.Now), "b1", time.Minute)
			require.NoError(t, h.Propose(t.Context(), handled("s", "Bash")))
			r := handlerSays(h.request(t, "s", 0), test.verdict, test.arguments)
			r.Failed = test.failed
			a, err := h.Handle(t.Context(), r)
			require.NoError(t, err)
			require.True(t, a.Accepted, a.Reason)
			result, text := h.carry(t, "s", 0, ok(new(atomic.Int32)))
			require.Equal(t, test.status, result.Status)
			require.Equal(t, test.cause, result.Cause)
			require.Contains(t, text, test.text)
			requireEndedBy(t, h.request(t, "s", 0).End, test.cause)
		})
	}
}

// requireEndedBy checks that a decision is the handler's own, or nobody's with
// a word on why.
func requireEndedBy(t *testing.T, end *fold.Vote, cause events.Cause) {
	t.Helper()
	require.Equal(t, cause, end.Cause)
	if cause != events.CauseHandler {
		require.Nil(t, end.Actor)
		require.Equal(t, events.VerdictDecline, end.Verdict)
		require.NotNil(t, end.Comment)
		return
	}
	require.Equal(t, "handler:ci", end.Actor.Person)
	require.Equal(t, "handler", end.Actor.Method)
	require.Empty(t, end.Actor.Roles)
}

// Where the recorded terms admit no handler, nothing that it says counts,
// however it comes into the log.
func TestAHandlerThatWasNotAskedFor(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Bash")
	q := h.request(t, "s", 0)
	a, err := h.Handle(t.Context(), handlerSays(q, events.VerdictApprove, ""))
	require.NoError(t, err)
	require.False(t, a.Accepted)
	for _, verdict := range []events.Verdict{events.VerdictApprove, events.VerdictDecline, events.VerdictModify} {
		_, err = log.as(hand).Append(t.Context(), events.Draft{Session: "s", Data: &events.Decision{
			RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: verdict, Cause: events.CauseHandler, Arguments: q.Arguments.CarriedBy(q.Carrier),
			Actor: &events.Actor{Person: "handler:ci", Roles: []string{"admin"}, Groups: []string{}, Method: "handler"}, Via: "hand",
		}})
		require.NoError(t, err)
	}
	h.propose(t, "after", "Read") // when this is back, so are those
	require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
	require.Empty(t, h.request(t, "s", 0).Decided)
	h.accepted(t, ruling(q, events.VerdictDecline, alice))
}

// A person was first, or changed the text: the handler's word is about nothing.
func TestAHandlerThatComesLate(t *testing.T) {
	tests := map[string]func(*testing.T, *house, *fold.Request){
		"decided": func(t *testing.T, h *house, q *fold.Request) { h.accepted(t, ruling(q, events.VerdictDecline, alice)) },
		"changed": func(t *testing.T, h *house, q *fold.Request) {
			h.accepted(t, ruling(q, events.VerdictModify, alice, becomes(changed)))
		},
	}
	for name, person := range tests {
		t.Run(name, func(t *testing.T) {
			h := open(t, newMemLog(time.Now), "b1", time.Minute)
			h.askByHand(t, "s", func(e *events.ApprovalRequest) { e.Handlers, e.Quorum = true, 2 })
			q := h.request(t, "s", 0)
			person(t, h, q)
			before := h.request(t, "s", 0)
			for _, r := range []gate.HandlerRuling{
				handlerSays(q, events.VerdictApprove, ""), handlerSays(q, events.VerdictModify, changed), handlerSays(q, events.VerdictDecline, ""),
				handlerSays(q, "nonsense", ""),
			} {
				a, err := h.Handle(t.Context(), r)
				require.NoError(t, err)
				require.False(t, a.Accepted)
				require.NotEmpty(t, a.Reason)
			}
			require.Equal(t, before, h.request(t, "s", 0))
		})
	}
}

// A handler is one vote among those that the quorum needs, also for the text
// that it wrote itself.
func TestAHandlerIsOneVote(t *testing.T) {
	for _, verdict := range []events.Verdict{events.VerdictApprove, events.VerdictModify} {
		t.Run(string(verdict), func(t *testing.T) {
			h := open(t, newMemLog(time.Now), "b1", time.Minute)
			h.askByHand(t, "s", func(e *events.ApprovalRequest) { e.Handlers, e.Quorum = true, 2 })
			a, err := h.Handle(t.Context(), handlerSays(h.request(t, "s", 0), verdict, changed))
			require.NoError(t, err)
			require.True(t, a.Accepted, a.Reason)
			require.Equal(t, 1, a.Needed)
			again, err := h.Handle(t.Context(), handlerSays(h.request(t, "s", 0), events.VerdictApprove, ""))
			require.NoError(t, err)
			require.False(t, again.Accepted, "one vote each")
			h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, bob))
			result, _ := h.carry(t, "s", 0, ok(new(atomic.Int32)))
			require.Equal(t, events.StatusOK, result.Status)
			require.Equal(t, events.CauseHuman, result.Cause)
		})
	}
}

// Where four eyes are asked for, who wrote the text does not approve it.
func TestAHandlerDoesNotApproveItsOwnTextUnderFourEyes(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.askByHand(t, "s", func(e *events.ApprovalRequest) { e.Handlers, e.FourEyes = true, true })
	a, err := h.Handle(t.Context(), handlerSays(h.request(t, "s", 0), events.VerdictModify, changed))
	require.NoError(t, err)
	require.False(t, a.Accepted)
	require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
	h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, bob))
}

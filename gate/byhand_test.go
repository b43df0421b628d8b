package gate_test

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// What a world writes into the log without asking a gate.

const hand = "agentd/x/b1"

// byHand approves a request and, in the same commit, starts its call with
// another text than was approved, and under another decision; neither counts.
// Late, the approve does not count either.
func (w *world) byHand(n *node, pick int, late bool) {
	q := w.pick(n.house, pick)
	if q == nil || q.State != fold.Pending {
		return
	}
	if late {
		<-time.After(time.Until(q.Deadline) + time.Microsecond)
	}
	session := "s0"
	_ = n.View(n.ctx, "s1", func(s *fold.Session) {
		if s.Requests[q.RequestID] != nil {
			session = "s1"
		}
	}) // where it is not there, the request is of s0
	approve := events.Draft{ID: events.NewID(), Session: session, Data: &events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: events.VerdictApprove, Cause: events.CauseHuman,
		Arguments: q.Arguments.CarriedBy(q.Carrier), Actor: alice, Via: "hand",
	}}
	other := events.NewPayload([]byte(`{"command":"rm"}`))
	start := func(decision string, digest events.Digest, ref *events.Ref) events.Draft {
		return events.Draft{Session: session, Payloads: []events.Payload{other}, Data: &events.ToolStarted{
			CallKey: q.CallKey, Tool: q.Tool, Warrant: events.Warrant{Kind: events.WarrantDecision, Decision: decision}, RequestDigest: digest,
			Arguments: ref, Executor: n.Executor(), Enforcement: events.Enforced, Isolation: "none",
		}}
	}
	_, _ = w.log.as(hand).Append(n.ctx, approve,
		start(approve.ID, q.Digest, other.Ref(events.MediaJSON)),
		start(approve.ID, events.DigestOf(other.Bytes), q.Arguments.CarriedBy(q.Carrier)),
		start(events.NewID(), q.Digest, q.Arguments.CarriedBy(q.Carrier)))
}

// mintAgain appends what the last decision says, under another id.
func (w *world) mintAgain() {
	for _, e := range slices.Backward(w.log.all()) {
		r := fold.Decode(e.Record)
		if d, ok := r.Event.(*events.Decision); ok {
			again := *d
			if again.Arguments.In == "" {
				again.Arguments = again.Arguments.CarriedBy(r.Envelope.ID)
			}
			again.Comment = nil
			_, _ = w.log.as(hand).Append(w.t.Context(), events.Draft{Session: r.Envelope.SessionID, Data: &again})
			return
		}
	}
}

// forge writes starts for a call that nothing permits, in a gate's own name.
func (w *world) forge(n *node, pick int) {
	w.mu.Lock()
	calls := w.calls
	w.mu.Unlock()
	if len(calls) == 0 {
		return
	}
	c := calls[pick%len(calls)]
	_ = n.View(n.ctx, c.session, func(s *fold.Session) {
		call := s.Calls[c.key]
		if call == nil {
			return
		}
		digest, warrant := call.Digest, events.Warrant{Kind: events.WarrantDecision, Decision: events.NewID()}
		if call.Request != nil {
			digest = call.Request.Digest
		}
		if pick%2 == 1 {
			warrant = events.Warrant{Kind: events.WarrantRule, Rule: "allowed-tools", PolicyDigest: call.PolicyDigest}
		}
		_, _ = w.log.as(hand).Append(n.ctx, events.Draft{Session: c.session, Data: &events.ToolStarted{
			CallKey: c.key, Tool: call.Tool, Warrant: warrant, RequestDigest: digest, Arguments: call.Arguments.CarriedBy(call.EventID),
			Executor: n.Executor(), Enforcement: events.Enforced, Isolation: "none",
		}})
	})
}

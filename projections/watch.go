package projections

import (
	"context"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// The watch holds the log against what the gate promises, from records and
// folds alone, as if the gate could not be trusted. What it finds is a violation
// only where something ran, or is said to run, that nobody let run, or where a
// call was left without an answer. It must not cry wolf, so it knows what a gate
// that works appends without anything having run:
//
//   - A start that lost a race: against a revocation, the end of the run, the
//     lapse of the approval, the same start by another node. The fold does not
//     count it, and the executor runs nothing before the fold has.
//   - A start or result of a call that the fold did not count (its run was over,
//     its key was used). Nobody carries such a call.
//   - A second end of a call by another node, and the late result of an executor
//     that was taken for lost: what it tells did happen once.

// watched is what the watch found in a batch.
type watched struct {
	found    []finding
	refused  []string // ids of tool_call records that the fold did not count
	policies []learnt
}

// finding is a violation, unless the call that it is about was never counted.
type finding struct {
	Violation

	about string // id of the tool_call that the record says it answers
}

// learnt is the definition of a policy.
type learnt struct {
	digest events.Digest
	policyText
}

// What the watch finds of a start: label finding.
const (
	foundGood       = "good"       // it has its warrant, and the recorded policy agrees
	foundUnverified = "unverified" // it has its warrant; the log does not tell the policy's text
	foundViolation  = "violation"
)

// watch holds one record against the invariants.
func (d *delta) watch(ctx context.Context, r folded, source Source) error {
	if e, ok := r.Event.(*events.Definition); ok {
		if e.Kind == events.DefinePolicy && d.book.policies.learn(r.Envelope.ID, e) {
			d.watched.policies = append(d.watched.policies, learnt{e.Digest, d.book.policies.texts[e.Digest]})
		}
		return nil
	}
	if r.Event == nil {
		return nil
	}
	if r.session == nil {
		if e, ok := r.Event.(*events.ToolStarted); ok { // no fold has it, so nothing warrants it
			d.find(r, e.CallKey, wrong{ExecutedWithoutApproval, "a start that names no session"})
		}
		return nil
	}
	switch e := r.Event.(type) {
	case *events.ToolCall:
		if !r.outcome.Counts {
			d.watched.refused = append(d.watched.refused, r.Envelope.ID)
		}
	case *events.ToolStarted:
		return d.watchStart(ctx, r, e, source)
	case *events.ToolResult:
		d.find(r, e.CallKey, wrongResult(r, e))
	case *events.RoundFinished:
		d.watchRound(r, e)
	case *events.RunFinished:
		if r.outcome.Counts {
			run := r.session.Runs[len(r.session.Runs)-1]
			d.watchTurn(r, run.Rounds)
		}
	default: // no promise is about it
	}
	return nil
}

// wrong is what a record breaks, and how; the zero value is nothing.
type wrong struct {
	invariant Invariant
	detail    string
}

func (d *delta) find(r folded, key events.CallKey, w wrong) {
	if w.invariant == "" {
		return
	}
	f := finding{Violation: Violation{
		At: r.Position, Session: r.Envelope.SessionID, Key: key, Invariant: w.invariant, EventID: r.Envelope.ID, Detail: w.detail,
	}}
	if excusable(r, key) {
		f.about = r.Envelope.CausationID
	}
	d.watched.found = append(d.watched.found, f)
}

// excusable reports whether a record may be about a call that was not counted:
// it names no call that counts, or is a free start of another text under its
// key, which a second gate writes in the commit of its own call. Whatever else
// names a call that counts is about that one, whatever it says it answers.
func excusable(r folded, key events.CallKey) bool {
	if r.session == nil || r.session.Calls[key] == nil {
		return true
	}
	c := r.session.Calls[key]
	e, ok := r.Event.(*events.ToolStarted)
	return ok && e.Warrant.Kind == events.WarrantRule && e.RequestDigest != c.Digest && (c.Request == nil || e.RequestDigest != c.Request.Digest)
}

// watchStart judges a start: one that counts under the recorded policy, and one
// that does not by whether anything could have excused it.
func (d *delta) watchStart(ctx context.Context, r folded, e *events.ToolStarted, source Source) error {
	if !r.outcome.Counts {
		d.find(r, e.CallKey, wrongStart(r.session, e))
		return nil
	}
	c := r.session.Calls[e.CallKey]
	effect, known, err := d.book.policies.rejudge(ctx, source, c)
	if err != nil {
		return err
	}
	switch w := overruled(e.Warrant.Kind, effect); {
	case w.invariant != "" && c.Enforcement != events.Observed:
		d.add(famStarts, labels{foundViolation}, tally{n: 1})
		d.find(r, e.CallKey, w)
	case !known:
		d.add(famStarts, labels{foundUnverified}, tally{n: 1})
	default:
		d.add(famStarts, labels{foundGood}, tally{n: 1})
	}
	return nil
}

// overruled says what is wrong with a start that counts, where the recorded
// policy, asked again, says other than the record. A deny is beaten by nothing.
func overruled(warrant events.WarrantKind, effect events.Effect) wrong {
	switch {
	case effect == events.EffectDeny:
		return wrong{ExecutedWithoutApproval, "the recorded policy denies this call"}
	case effect == events.EffectAsk && warrant == events.WarrantRule:
		return wrong{ExecutedWithoutApproval, "the record says that the policy let it run; the recorded policy asks"}
	}
	return wrong{}
}

// wrongStart says what is wrong with a start that the fold does not count,
// where none of the races of a gate that works explains it.
func wrongStart(s *fold.Session, e *events.ToolStarted) wrong {
	c := s.Calls[e.CallKey]
	switch {
	case c == nil:
		return wrong{ExecutedWithoutApproval, "it starts a call that nobody asked for"}
	case c.Enforcement == events.Observed:
		return wrong{}
	case c.Effect == events.EffectDeny:
		return wrong{ExecutedWithoutApproval, "it starts a call that was denied"}
	case e.Tool != c.Tool:
		return wrong{DigestChanged, "it starts another tool than was asked for"}
	case bypassed(s, c, e):
		return wrong{}
	case c.Effect == events.EffectAllow:
		return changed(e, c.Digest, c.Arguments)
	case c.Request == nil:
		return wrong{ExecutedWithoutApproval, "it starts a call that must ask, and nobody was asked"}
	}
	return wrongUnder(c.Request, e)
}

// wrongUnder judges a start by the request of its call.
func wrongUnder(q *fold.Request, e *events.ToolStarted) wrong {
	switch {
	case q.State == fold.Pending:
		return wrong{ExecutedWithoutApproval, "it starts a call that waits for approval"}
	case q.State != fold.Approved:
		return wrong{ExecutedAfterDecline, "it starts a call whose request ended without an approval"}
	case e.Warrant.Kind != events.WarrantDecision || e.Warrant.Decision != q.End.EventID:
		return wrong{ExecutedWithoutApproval, "it names another warrant than the approval"}
	}
	return changed(e, q.Digest, q.Arguments)
}

// changed says whether a start is about other text than what may run.
func changed(e *events.ToolStarted, digest events.Digest, arguments *events.Ref) wrong {
	a, b := e.Arguments, arguments
	if e.RequestDigest != digest || a == nil || b == nil || a.Commitment != b.Commitment || a.Bytes != b.Bytes {
		return wrong{DigestChanged, "it starts the call with other arguments than those that may run"}
	}
	return wrong{}
}

// bypassed reports whether a start names the bypass of its own run, which may
// have ended meanwhile.
func bypassed(s *fold.Session, c *fold.Call, e *events.ToolStarted) bool {
	if e.Warrant.Kind != events.WarrantBypass || e.Warrant.ID != c.RunID {
		return false
	}
	for _, run := range s.Runs {
		if run.ID == c.RunID {
			return run.Bypass != nil
		}
	}
	return false
}

// serverOf returns the MCP server in a tool's name. The record does not name it:
// of server__tool it is what stands before the first separator, which is how an
// entry of the policy is read as well.
func serverOf(c *events.ToolCall) string {
	if c.ToolSource != events.SourceMCP {
		return ""
	}
	server, _, _ := strings.Cut(strings.TrimPrefix(c.Tool, "mcp__"), "__")
	return server
}

package projections

import (
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// raceBound is how far apart in log time two records may stand of which the
// second was written by somebody who could not know of the first. It is what a
// gate gives the log before it says that a record is not back
// (gate.Options.JudgedWithin): an executor that has not heard of a revocation,
// an end or another's start for longer than that is not one that works.
const raceBound = 10 * time.Second

// racing reports whether a record may have been written before its writer could
// know of one that stands at an earlier log time.
func racing(earlier, later int64) bool { return micros(later-earlier) <= raceBound }

// traces are what the watch must know of a session beside its fold: who wrote
// the starts that count, when what had been granted was taken back, and which
// calls were never counted. They follow from the session's records alone.
type traces struct {
	starters  map[events.CallKey]string // source of the start that counts
	cancelled map[string]int64          // log time, by run
	revoked   map[string]int64          // log time, by request
	refused   map[string]refusedCall    // by the id of their event
}

// refusedCall is a call that the fold did not count: its key was used, its run
// is over, the conversation is another's. A gate that proposed it starts it in
// the same commit, if it is free, and never carries it.
type refusedCall struct {
	events.ToolCall

	digest events.Digest
	source string
	at     int64 // log time
}

// note keeps what a record leaves, after the fold has judged it.
func (t *traces) note(r fold.Record, counts bool) {
	switch e := r.Event.(type) {
	case *events.ToolCall:
		if !counts {
			keep(&t.refused, r.Envelope.ID, refusedCall{ToolCall: *e, digest: r.Digest, source: r.Envelope.Source, at: r.LogTime})
		}
	case *events.ToolStarted:
		if counts {
			keep(&t.starters, e.CallKey, r.Envelope.Source)
		}
	case *events.RunCancelled:
		if counts {
			keep(&t.cancelled, e.RunID, r.LogTime)
		}
	case *events.Revocation:
		if counts {
			keep(&t.revoked, e.RequestID, r.LogTime)
		}
	default: // leaves nothing that the fold does not tell
	}
}

// keep adds to a map that most sessions never need.
func keep[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// startsRefused returns the call that a start belongs to which a gate appended
// with a call that was then not counted: written by the same program at the same
// time, for exactly that call, under the rule that let it run. nil for any other.
func (t *traces) startsRefused(r fold.Record, e *events.ToolStarted) *events.ToolCall {
	c, known := t.refused[r.Envelope.CausationID]
	free := c.Effect == events.EffectAllow && warrantedByRule(&c.ToolCall, e)
	if !known || !free || e.CallKey != c.CallKey || e.Tool != c.Tool || e.Enforcement != c.Enforcement {
		return nil
	}
	if r.Envelope.Source != c.source || !racing(c.at, r.LogTime) || changed(e, c.digest, c.Arguments) != (wrong{}) {
		return nil
	}
	return &c.ToolCall
}

// warrantedByRule reports whether a start names the rule that let its call run.
func warrantedByRule(c *events.ToolCall, e *events.ToolStarted) bool {
	return e.Warrant.Kind == events.WarrantRule && e.Warrant.Rule == c.Rule && e.Warrant.PolicyDigest == c.PolicyDigest
}

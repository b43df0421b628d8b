package gate

import (
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/policy"
)

// A tool is its definition: the text that the model reads of it, the schema, the
// command behind it. One that changed since a person last let a call of it run is
// another tool, whatever entry of the policy names it, and asks. See
// fold.Definitions for what counts as accepted.

// ruleChanged is the gate's own rule under which such a call asks.
const ruleChanged = "definition-changed"

const whyChanged = "the tool's definition changed since it was last accepted; approving this call accepts the new one"

// acceptance is what the log accepts. Its lock is taken with and without the
// gate's, never the other way round.
type acceptance struct {
	mu    sync.RWMutex
	fold  fold.Definitions      // mu
	moved bool                  // gate.db does not have it; mu
	was   fold.PolicyDefinition // the newest policy before this boot; mu
}

// apply moves the fold by a record that the session's fold has applied.
func (a *acceptance) apply(r fold.Record, s *fold.Session, o fold.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moved = a.fold.Apply(r, s, o) || a.moved
}

// accepts reports whether a tool as it is defined now may run without being asked
// about.
func (a *acceptance) accepts(t *judgedTool) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.fold.Accepts(t.Name, t.digest)
}

// changedAsks makes a verdict ask that frees a tool whose definition nobody
// accepted. A program's handler does not decide that: see terms.
func (g *Gate) changedAsks(p *policy.Policy, t *judgedTool, v policy.Verdict) policy.Verdict {
	if v.Effect != policy.Allow || g.accepted.accepts(t) {
		return v
	}
	return p.Ask(ruleChanged, whyChanged)
}

// restore takes the state that gate.db has.
func (a *acceptance) restore(d fold.Definitions) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fold, a.moved = d, false
}

// take returns the state for gate.db, or nil where that has it.
func (a *acceptance) take() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.moved {
		return nil, nil
	}
	a.moved = false
	return json.Marshal(a.fold, json.Deterministic(true))
}

// putBack keeps a state that could not be written for the next try.
func (a *acceptance) putBack(taken []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moved = a.moved || taken != nil
}

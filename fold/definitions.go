package fold

import (
	"maps"

	"github.com/countersign-dev/countersign/events"
)

// Definitions says which definitions of tools may run without being asked
// about, over the log of all sessions. A tool whose definition changed asks until
// a person let a call of it run, whoever names the tool in the policy. Accepted
// are, for each tool by its name:
//
//   - the first definition that the log ever had for it;
//   - every definition under which a call started on a person's approval. From
//     then on the approval cannot be taken back; one that never led to a start
//     accepts nothing;
//   - in a log that began before gates asked about changes, the definition under
//     which a call started last before the first gate that does. Whoever only
//     upgrades is not asked about what ran yesterday, and what changes with the
//     upgrade itself is.
//
// The zero value is the state before the first record. It is small: a line for
// each definition that somebody accepted.
type Definitions struct {
	Tools map[string]ToolDefinitions `json:"tools,omitzero"`
	// Asks says that a gate that asks about changes has begun to write.
	Asks bool `json:"asks,omitzero"`
	// Policy is the newest policy that the log defines, "" where it has none.
	Policy PolicyDefinition `json:"policy,omitzero"`
}

// ToolDefinitions is what the log says of one tool. It does not change: a fold
// that moves on replaces it.
type ToolDefinitions struct {
	Now      events.Digest                `json:"now,omitzero"` // the newest definition
	Ran      events.Digest                `json:"ran,omitzero"` // under which a call started last, before Asks
	Accepted map[events.Digest]Acceptance `json:"accepted,omitzero"`
}

// Acceptance is how a definition came to be accepted.
type Acceptance struct {
	How     Accepted        `json:"how"`
	Person  string          `json:"person,omitzero"`  // who approved
	Session string          `json:"session,omitzero"` // of the approved call
	Request string          `json:"request,omitzero"` // that was approved
	At      events.Position `json:"at"`
}

// Accepted is a way in which a definition is accepted.
type Accepted string

// The ways.
const (
	AcceptedFirst    Accepted = "first"    // the log's first definition of the tool
	AcceptedApproved Accepted = "approved" // a call of it started on a person's approval
	AcceptedBefore   Accepted = "before"   // it ran last before gates asked about changes
)

// PolicyDefinition is where a policy is defined.
type PolicyDefinition struct {
	Digest  events.Digest   `json:"digest"`
	EventID string          `json:"event_id"`
	Content *events.Ref     `json:"content"`
	At      events.Position `json:"at"`
}

// Accepts reports whether a tool may run under a definition without being asked
// about. A tool that the log knows nothing of has not changed.
func (d *Definitions) Accepts(tool string, digest events.Digest) bool {
	t, known := d.Tools[tool]
	if !known || len(t.Accepted) == 0 {
		return true
	}
	_, accepted := t.Accepted[digest]
	return accepted
}

// Apply moves the state by the next record of the log, with what its session's
// fold, which has applied it, made of it; session is nil where it has none. It
// reports whether anything moved.
func (d *Definitions) Apply(r Record, session *Session, o Outcome) (moved bool) {
	switch e := r.Event.(type) {
	case *events.Boot:
		return e.AsksChanged && !d.Asks && d.begin(r)
	case *events.Definition:
		return d.define(r, e)
	case *events.ToolCall:
		return o.Counts && e.ToolDigest != "" && d.first(r, e.Tool, e.ToolDigest)
	case *events.ToolStarted:
		return o.Counts && d.started(r, session.Calls[e.CallKey], e)
	default: // says nothing of definitions
		return false
	}
}

// begin notes that changes are asked about from here on.
func (d *Definitions) begin(r Record) bool {
	d.Asks = true
	for tool, t := range d.Tools {
		if t.Ran != "" {
			d.accept(tool, t.Ran, Acceptance{How: AcceptedBefore, At: r.Position})
		}
	}
	return true
}

func (d *Definitions) define(r Record, e *events.Definition) bool {
	switch e.Kind {
	case events.DefinePolicy:
		d.Policy = PolicyDefinition{Digest: e.Digest, EventID: r.Envelope.ID, Content: e.Content, At: r.Position}
		return true
	case events.DefineTool:
		d.first(r, e.Name, e.Digest)
		t := d.Tools[e.Name]
		t.Now = e.Digest
		d.Tools[e.Name] = t
		return true
	case events.DefineTools, events.DefinePrompt, events.DefineSubagent, events.DefineSkill, events.DefineConfiguration:
	}
	return false
}

// first accepts the first definition of a tool.
func (d *Definitions) first(r Record, tool string, digest events.Digest) bool {
	if len(d.Tools[tool].Accepted) > 0 {
		return false
	}
	return d.accept(tool, digest, Acceptance{How: AcceptedFirst, At: r.Position})
}

// started accepts what a person let run.
func (d *Definitions) started(r Record, c *Call, e *events.ToolStarted) bool {
	if c.ToolDigest == "" {
		return false
	}
	moved := false
	if t := d.Tools[c.Tool]; !d.Asks && t.Ran != c.ToolDigest {
		t.Ran, moved = c.ToolDigest, true
		d.set(c.Tool, t)
	}
	q := c.Request
	if e.Warrant.Kind != events.WarrantDecision || q.End.Cause != events.CauseHuman {
		return moved
	}
	return d.accept(c.Tool, c.ToolDigest, Acceptance{
		How: AcceptedApproved, Person: q.End.Actor.Person, Session: r.Envelope.SessionID, Request: q.RequestID, At: r.Position,
	}) || moved
}

// accept notes the first acceptance of a definition. Readers may hold the map
// that was there.
func (d *Definitions) accept(tool string, digest events.Digest, a Acceptance) bool {
	t := d.Tools[tool]
	if _, accepted := t.Accepted[digest]; accepted {
		return false
	}
	accepted := maps.Clone(t.Accepted)
	if accepted == nil {
		accepted = map[events.Digest]Acceptance{}
	}
	accepted[digest] = a
	t.Accepted = accepted
	d.set(tool, t)
	return true
}

func (d *Definitions) set(tool string, t ToolDefinitions) {
	if d.Tools == nil {
		d.Tools = map[string]ToolDefinitions{}
	}
	d.Tools[tool] = t
}

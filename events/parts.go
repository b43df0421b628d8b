package events

import "math"

// The parts that several event types share.

// Warrant names what permitted a start. Decision is the id of the decision
// that completed the approval; Rule and PolicyDigest are the recorded rule that
// allowed; ID is the bypass's run or the standing rule.
type Warrant struct {
	Kind         WarrantKind `json:"kind"`
	Decision     string      `json:"decision,omitzero"`
	Rule         string      `json:"rule,omitzero"`
	PolicyDigest Digest      `json:"policy_digest,omitzero"`
	ID           string      `json:"id,omitzero"`
}

// CallKey names a call within its session: the round (batch) that asked for it
// and its place in the model's order, from 0. Provider ids repeat; keys do not.
type CallKey struct {
	BatchID string `json:"batch_id"`
	Index   int    `json:"index"`
}

// Agent is who asks: its name and its path from the run's own agent.
type Agent struct {
	Name string `json:"name"`
	Path string `json:"path"` // "" is the run's own agent; "researcher/child" a subagent's
}

// Actor is the authenticated person or program behind an act, as the server
// knew it, never as a body said it.
type Actor struct {
	Person     string   `json:"person"`               // opaque id; a person event maps it to a name
	Credential string   `json:"credential"`           // the name of the token or session, never its secret
	Roles      []string `json:"roles"`                // in the order of the configuration
	Groups     []string `json:"groups"`               //
	Method     string   `json:"method"`               // "token", "session", "local-link"
	At         Time     `json:"at"`                   // when the credential was authenticated
	AssertedBy string   `json:"asserted_by,omitzero"` // the node that authenticated, where it is not the producer
}

// Target is what a call would change, before it does.
type Target struct {
	Path   string `json:"path"`
	Digest Digest `json:"digest,omitzero"` // "" where it does not exist
}

// Terms are the conditions under which a request may be approved.
type Terms struct {
	Rule         string   `json:"rule"`
	PolicyDigest Digest   `json:"policy_digest"`
	Why          string   `json:"why"`                // one sentence of ours for the reviewer
	Quorum       int      `json:"quorum"`             // people who must approve, 1 or more
	Approvers    []string `json:"approvers"`          // "group:sre", "person:ID"; empty: every reviewer
	FourEyes     bool     `json:"four_eyes,omitzero"` // the requester may not approve, nor a modification's author
	Handlers     bool     `json:"handlers,omitzero"`  // a program's approval handler may decide
	Timeout      Duration `json:"timeout"`            // from this record's log time
	StartWithin  Duration `json:"start_within"`       // from the log time of what completed the approval
}

// Usage counts tokens.
type Usage struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Total      int64 `json:"total"`
}

// Add returns the sum of two usages. A count that would pass the largest number
// stays there: what providers say is no reason for a sum that nobody can record.
func (u Usage) Add(v Usage) Usage {
	return Usage{Prompt: sum(u.Prompt, v.Prompt), Completion: sum(u.Completion, v.Completion), Total: sum(u.Total, v.Total)}
}

// sum adds two counts; neither is negative.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

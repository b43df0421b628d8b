// Package policy says what happens to a call before it runs: it is free
// ([Allow]), a person must countersign it ([Ask]), or it never runs ([Deny]).
// A call goes in, a verdict with the rule's name comes out. No clock,
// file or state has a part in it, so the same policy gives the same verdict on
// every node and in every replay.
//
// A policy is compiled once, when the program starts, and is safe for any
// number of goroutines after that:
//
//	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Write", "Bash"}})
//	...
//	v := p.Judge(policy.Call{Tool: "Bash", Source: policy.SourceBuiltin})
//	// v.Effect == policy.Ask, v.Rule == "required-tools", v.Why == "required-tools names Bash"
//
// Its [Policy.Document] goes into the log before the first verdict does, and
// its [Policy.Digest] into every call, so that an auditor can judge again.
//
// # Which entry wins
//
// Deny beats ask beats allow, whatever the order. Only where no entry names
// the call do the defaults hold: with required-tools given, built-in and
// configured tools are free; without it everything asks but the built-in Read.
// Tools of MCP servers and skills ask, and so does everything whose source is
// not known.
//
// # What an entry names
//
// An entry is a tool's name, or a glob: * is any run of characters, ? is one.
// Entries that protect match widely, the ones that open match narrowly, so
// that every doubt ends with a person:
//
//   - required-tools and denied-tools do not see case, space, invisible characters
//     and full-width letters. A bare name covers that tool on every MCP server,
//     as tool, server__tool and mcp__server__tool.
//   - allowed-tools must have the name to the byte. A tool of an MCP server
//     opens only by an entry that spells out its server: files__read_* or
//     mcp__files__read_*. A name beyond plain ASCII opens only by an entry that
//     spells out the whole name; no glob and no default opens a look-alike.
//
// A name of more than 256 bytes is denied: no event can hold it.
//
// Whether a tool exists is not asked here; the gate refuses the unknown first.
package policy

import (
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Effect is what a verdict does to a call, as events record it.
type Effect = events.Effect

// The effects, from the weakest to the strongest.
const (
	Allow = events.EffectAllow // runs at once
	Ask   = events.EffectAsk   // runs after a person's approval
	Deny  = events.EffectDeny  // does not run
)

// The rules that a verdict can name. They stand in events: never rename one.
const (
	RuleRequired = "required-tools"
	RuleAllowed  = "allowed-tools"
	RuleDenied   = "denied-tools"
	RuleDefault  = "default"
)

// The sources of tools, as `tool_source` has them.
const (
	SourceBuiltin = string(events.SourceBuiltin)
	SourceCustom  = string(events.SourceCustom)
	SourceSkill   = string(events.SourceSkill)
	SourceMCP     = string(events.SourceMCP)
)

// Call is what a policy sees of a tool call.
type Call struct {
	Tool   string // as the model named it; a tool of an MCP server is server__tool
	Source string // one of the Source constants; any other asks
	Server string // the MCP server; empty for all other sources
}

func (c Call) tooLong() bool {
	return len(c.Tool) > events.MaxNameBytes || len(c.Server) > events.MaxNameBytes
}

// Verdict is the policy's answer. The terms (Quorum and what follows it) are
// set where Effect is Ask and zero otherwise.
type Verdict struct {
	Effect Effect
	Rule   string // one of the Rule constants
	// Why is a short sentence for the reviewer. It holds the operator's words
	// and ours, never a byte that model or server chose.
	Why         string
	Quorum      int           // how many people must approve; at least 1
	Approvers   []string      // who may; empty: every reviewer
	FourEyes    bool          // the requester may not
	Timeout     time.Duration // from the request's log time until nobody answered
	StartWithin time.Duration // from the approval until it has lapsed
}

// Policy is a compiled policy. It does not change.
type Policy struct {
	required, allowed, denied []entry
	requiredSet               bool
	timeout, startWithin      time.Duration
	document                  []byte
	digest                    string
}

// Judge returns the verdict on a call. It never fails: what it cannot place
// asks.
func (p *Policy) Judge(c Call) Verdict {
	if c.tooLong() {
		// No event can hold it, and the work on a name grows with its square.
		return Verdict{Effect: Deny, Rule: RuleDefault, Why: "the tool's name is longer than any event can hold"}
	}
	s := newSubject(c)
	if e, ok := find(p.denied, s, entry.covers); ok {
		return Verdict{Effect: Deny, Rule: RuleDenied, Why: RuleDenied + " names " + e.String()}
	}
	if e, ok := find(p.required, s, entry.covers); ok {
		return p.ask(RuleRequired, RuleRequired+" names "+e.String())
	}
	if e, ok := find(p.allowed, s, entry.opens); ok {
		return Verdict{Effect: Allow, Rule: RuleAllowed, Why: RuleAllowed + " names " + e.String()}
	}
	return p.byDefault(s)
}

// byDefault judges a call that no entry names.
func (p *Policy) byDefault(s subject) Verdict {
	switch {
	case s.origin == fromServer:
		return p.ask(RuleDefault, "tools of MCP servers ask unless allowed-tools names them with their server")
	case s.origin == fromSkill:
		return p.ask(RuleDefault, "tools of skills ask unless allowed-tools names them")
	case s.origin == fromElsewhere:
		return p.ask(RuleDefault, "it is not known where this tool comes from")
	case !plain(s.Tool):
		return p.ask(RuleDefault, "the tool's name is not plain ASCII and allowed-tools does not spell it out")
	case p.requiredSet:
		return Verdict{Effect: Allow, Rule: RuleDefault, Why: "required-tools does not name this tool"}
	case s.Source == SourceBuiltin && s.Tool == "Read":
		return Verdict{Effect: Allow, Rule: RuleDefault, Why: "the built-in Read is free"}
	default:
		return p.ask(RuleDefault, "without required-tools every tool asks but the built-in Read")
	}
}

// Ask returns a verdict that asks under the terms of the policy, for a reason that
// is no entry's: the gate's own rules.
func (p *Policy) Ask(rule, why string) Verdict { return p.ask(rule, why) }

func (p *Policy) ask(rule, why string) Verdict {
	return Verdict{
		Effect: Ask, Rule: rule, Why: why,
		Quorum: 1, Timeout: p.timeout, StartWithin: p.startWithin,
	}
}

// Summary says in one line what asks, for people: "Edit, Write ask".
func (p *Policy) Summary() string {
	if len(p.denied) == 0 {
		return p.asking()
	}
	names := make([]string, 0, len(p.denied))
	for _, e := range p.denied {
		names = append(names, e.String())
	}
	return strings.Join(names, ", ") + " never run; of the others " + p.asking()
}

// asking says what asks.
func (p *Policy) asking() string {
	switch {
	case !p.requiredSet:
		return "everything asks but Read"
	case len(p.required) == 0:
		return "nothing asks"
	case len(p.required) == 1:
		return p.required[0].String() + " asks"
	}
	names := make([]string, 0, len(p.required))
	for _, e := range p.required {
		names = append(names, e.String())
	}
	return strings.Join(names, ", ") + " ask"
}

// find returns the first entry that matches. Entries are in an order of their
// own, so that the operator's order changes no word of a verdict.
func find(entries []entry, s subject, matches func(entry, subject) bool) (entry, bool) {
	for _, e := range entries {
		if matches(e, s) {
			return e, true
		}
	}
	return entry{}, false
}

package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Change is one difference between two policies, in words for people: the
// operator's and ours.
type Change struct {
	Words string
	// Loosens: more can run, or with less asking, or later, than before. What
	// cannot be compared loosens.
	Loosens bool
}

// Loosens reports whether any of some changes does.
func Loosens(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Loosens })
}

// Compare says how a policy differs from the one before: what it does to the known
// tools, then entry by entry, because an entry stands for tools that nobody knows
// yet as well. None where both have the same digest. An entry that is gone loosens
// unless what is left covers every tool that it could name; see [Policy] for what
// entries cover. It may call loosening what is none, never the other way round.
func Compare(before, after *Policy, known []Call) []Change {
	if before.digest == after.digest {
		return nil
	}
	c := comparison{before: before, after: after}
	c.tools(known)
	c.denied()
	c.required()
	c.allowed()
	c.unnamed()
	c.duration("timeout", before.timeout, after.timeout)
	c.duration("start-within", before.startWithin, after.startWithin)
	return c.changes
}

type comparison struct {
	before, after *Policy
	changes       []Change
}

func (c *comparison) add(loosens bool, format string, args ...any) {
	c.changes = append(c.changes, Change{fmt.Sprintf(format, args...), loosens})
}

// tools compares the verdicts on known tools.
func (c *comparison) tools(known []Call) {
	for _, call := range known {
		was, is := c.before.Judge(call), c.after.Judge(call)
		if was.Effect != is.Effect {
			c.add(strength(is.Effect) < strength(was.Effect), "%s: %s → %s", nameOf(call), was.Effect, is.Effect)
		}
	}
}

// nameOf is a tool's name for people: what could pass for another is escaped.
func nameOf(call Call) string { return newEntry(clipped(call.Tool)).String() }

func clipped(s string) string { return s[:min(len(s), 120)] }

// strength orders effects by how little they let run.
func strength(e Effect) int {
	return slices.Index([]Effect{Allow, Ask, Deny}, e)
}

func (c *comparison) denied() {
	added, gone := differ(c.before.denied, c.after.denied)
	for _, e := range gone {
		c.add(!coveredBy(e, c.after.denied), "%s no longer names %s", RuleDenied, e)
	}
	for _, e := range added {
		c.add(false, "%s names %s", RuleDenied, e)
	}
}

func (c *comparison) required() {
	added, gone := differ(c.before.required, c.after.required)
	for _, e := range gone {
		c.add(!c.stillHeld(e), "%s no longer names %s", RuleRequired, e)
	}
	for _, e := range added {
		c.add(false, "%s names %s", RuleRequired, e)
	}
}

// stillHeld reports whether all that an entry could name asks or is denied after.
func (c *comparison) stillHeld(e entry) bool {
	if coveredBy(e, c.after.required) || coveredBy(e, c.after.denied) {
		return true
	}
	// Without required-tools everything asks but what allowed-tools opens, and
	// Read.
	return !c.after.requiredSet && len(c.after.allowed) == 0 && !e.covers(newSubject(Call{Tool: "Read", Source: SourceBuiltin}))
}

func (c *comparison) allowed() {
	added, gone := differ(c.before.allowed, c.after.allowed)
	for _, e := range added {
		held := coveredBy(e, c.after.required) || coveredBy(e, c.after.denied) || openedBy(e, c.before.allowed)
		c.add(!held, "%s names %s", RuleAllowed, e)
	}
	for _, e := range gone {
		c.add(false, "%s no longer names %s", RuleAllowed, e)
	}
}

// unnamed compares what holds for built-in and configured tools that no entry
// names.
func (c *comparison) unnamed() {
	all := newEntry("*")
	switch {
	case c.before.requiredSet == c.after.requiredSet:
	case c.before.requiredSet:
		// The built-in Read is free then, as anything that nothing names was.
		c.add(false, "%s is not given any more: tools that no entry names ask, but the built-in Read", RuleRequired)
	default:
		c.add(!coveredBy(all, c.after.required) && !coveredBy(all, c.after.denied), "%s is given: built-in and configured tools that no entry names are free", RuleRequired)
	}
}

func (c *comparison) duration(key string, was, is time.Duration) {
	if was != is {
		c.add(is > was, "%s: %s → %s", key, short(was), short(is))
	}
}

// short writes a duration without its empty parts: 3m, not 3m0s.
func short(d time.Duration) string {
	s := d.String()
	if s, ok := strings.CutSuffix(s, "m0s"); ok {
		s += "m"
		if hours, ok := strings.CutSuffix(s, "h0m"); ok {
			return hours + "h"
		}
		return s
	}
	return s
}

// differ returns the entries of either list that the other does not have.
func differ(before, after []entry) (added, gone []entry) {
	lacks := func(list []entry) func(entry) bool {
		return func(e entry) bool { return slices.ContainsFunc(list, func(o entry) bool { return o.text == e.text }) }
	}
	return slices.DeleteFunc(slices.Clone(after), lacks(before)), slices.DeleteFunc(slices.Clone(before), lacks(after))
}

// coveredBy reports whether one entry of a list that protects covers whatever an
// entry could name.
func coveredBy(e entry, list []entry) bool {
	return slices.ContainsFunc(list, func(by entry) bool { return by.raw.includes(e.raw) && by.folded.includes(e.folded) })
}

// openedBy reports whether one entry of a list that opens opens whatever an entry
// could.
func openedBy(e entry, list []entry) bool {
	return slices.ContainsFunc(list, func(by entry) bool {
		if by.text == e.text {
			return true
		}
		return by.server == e.server && by.raw.includes(e.raw) && (e.server == "" || by.rest.includes(e.rest)) && plainGlob(e.text)
	})
}

// plainGlob reports whether a glob could name plain names alone, were it none.
func plainGlob(text string) bool {
	return plain(strings.NewReplacer("*", "x", "?", "x").Replace(text))
}

// includes reports whether every name that q matches is one that p matches. It
// may miss that, never say so wrongly: wildcards of q are read as letters that
// only p's * takes, or a ? of p for a ? of q.
func (p pattern) includes(q pattern) bool {
	if !q.isGlob() {
		return p.matches(q.text)
	}
	return p.isGlob() && globTakes(p.glob, q.glob, func(g, other rune) bool { return other != '*' && (g == '?' || g == other) })
}

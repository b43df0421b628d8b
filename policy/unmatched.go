package policy

import (
	"slices"
	"strings"
)

// Unmatched returns the entries that match none of the known tools, each as
// "list: entry", with the tool that was perhaps meant. Such an entry protects
// or opens nothing: it is to be shown at start, never passed over in silence.
// An entry of allowed-tools matches as narrowly here as in Judge.
func (p *Policy) Unmatched(known []Call) []string {
	subjects := make([]subject, 0, len(known))
	for _, c := range known {
		if !c.tooLong() { // Judge lets no entry see these
			subjects = append(subjects, newSubject(c))
		}
	}
	return append(append(
		unmatched(RuleRequired, p.required, subjects, entry.covers),
		unmatched(RuleAllowed, p.allowed, subjects, entry.opens)...),
		unmatched(RuleDenied, p.denied, subjects, entry.covers)...)
}

func unmatched(key string, entries []entry, known []subject, matches func(entry, subject) bool) []string {
	var lines []string
	for _, e := range entries {
		if !slices.ContainsFunc(known, func(s subject) bool { return matches(e, s) }) {
			lines = append(lines, key+": "+e.String()+hint(e, known, matches))
		}
	}
	return lines
}

// hint names the first known tool whose last word is the entry's, if writing
// that tool's name instead would match it.
func hint(e entry, known []subject, matches func(entry, subject) bool) string {
	for _, s := range known {
		if fold(lastWord(e.text)) != fold(lastWord(s.Tool)) {
			continue
		}
		meant := newEntry(s.fullName())
		if checkEntry(meant.text) == "" && !meant.raw.isGlob() && matches(meant, s) {
			return " (did you mean " + meant.String() + "?)"
		}
	}
	return ""
}

// fullName is the name by which allowed-tools may open the tool.
func (s subject) fullName() string {
	if s.Server == "" {
		return s.Tool
	}
	return s.Server + separator + s.bare
}

func lastWord(name string) string {
	if at := strings.LastIndex(name, separator); at >= 0 {
		return name[at+len(separator):]
	}
	return name
}

package policy

import (
	"slices"
	"strings"
)

// pattern is a name, or a glob in which * is any run of characters, none
// included, and ? is exactly one. No other character is special: not /, not \.
type pattern struct {
	text string
	glob []rune // nil where text has no wildcard
}

func newPattern(text string) pattern {
	p := pattern{text: text}
	if strings.ContainsAny(text, "*?") {
		p.glob = []rune(text)
	}
	return p
}

func (p pattern) isGlob() bool { return p.glob != nil }

func (p pattern) matches(name string) bool {
	if !p.isGlob() {
		return p.text == name
	}
	return globMatches(p.glob, []rune(name))
}

func (p pattern) matchesAny(names []string) bool {
	return slices.ContainsFunc(names, p.matches)
}

// opens is matches for the entries that free a call: a wildcard stands for
// plain characters alone.
func (p pattern) opens(name string) bool {
	if plain(name) {
		return p.matches(name)
	}
	return !p.isGlob() && p.text == name
}

func globMatches(glob, name []rune) bool {
	return globTakes(glob, name, func(g, n rune) bool { return g == '?' || g == n })
}

// globTakes matches runes of a glob that are no * by one. It goes back to the last
// * alone, which is enough, so its time is bounded by the product of the lengths.
func globTakes(glob, name []rune, one func(g, n rune) bool) bool {
	g, n, star, resume := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, resume = g, n
			g++
		case g < len(glob) && one(glob[g], name[n]):
			g++
			n++
		case star >= 0:
			resume++
			g, n = star+1, resume
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// origin is who answers for a tool.
type origin int

const (
	fromHere      origin = iota // built-in or configured: the operator does
	fromSkill                   // who wrote the skill
	fromServer                  // who runs the MCP server
	fromElsewhere               // nobody that we know
)

// subject is a call with the names by which entries may know it.
type subject struct {
	Call
	origin    origin
	bare      string   // the tool's name on its server
	spellings []string // all names, as they are
	folded    []string // all names of the folded tool and server
}

func newSubject(c Call) subject {
	from := originOf(c)
	return subject{
		Call: c, origin: from,
		bare:      bareName(c.Tool, c.Server, hostPrefix),
		spellings: spellings(c.Tool, c.Server, hostPrefix, from),
		folded:    spellings(fold(c.Tool), fold(c.Server), fold(hostPrefix), from),
	}
}

// originOf trusts a source only together with the absence of a server.
func originOf(c Call) origin {
	switch {
	case c.Source == SourceMCP || c.Server != "":
		return fromServer
	case c.Source == SourceBuiltin || c.Source == SourceCustom:
		return fromHere
	case c.Source == SourceSkill:
		return fromSkill
	default:
		return fromElsewhere
	}
}

// bareName takes the server off a tool's name, once. Our own spelling comes
// before the host's: on a server called mcp, mcp__mcp__x is the tool mcp__x.
func bareName(tool, server, hostPrefix string) string {
	if server == "" {
		return tool
	}
	for _, prefix := range []string{"", hostPrefix} {
		if bare, ok := strings.CutPrefix(tool, prefix+server+separator); ok {
			return bare
		}
	}
	return tool
}

// spellings returns the names that a protecting entry may use. A built-in,
// configured or skill tool has one. All others have also those with server and
// host, and what follows each separator, because plugins and proxies stack
// prefixes.
func spellings(tool, server, hostPrefix string, from origin) []string {
	if from == fromHere || from == fromSkill {
		return []string{tool}
	}
	names := []string{tool, hostPrefix + tool}
	if server != "" {
		full := server + separator + bareName(tool, server, hostPrefix)
		names = append(names, full, hostPrefix+full)
	}
	for at := range len(tool) {
		if rest, ok := strings.CutPrefix(tool[at:], separator); ok {
			names = append(names, rest, hostPrefix+rest)
		}
	}
	return names
}

// plain says that a name has only letters that cannot pass for others: those
// that model providers and MCP let a tool's name have.
func plain(name string) bool {
	for _, r := range name {
		if !plainRune(r) {
			return false
		}
	}
	return name != ""
}

func plainRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		strings.ContainsRune("_-./:@", r)
}

// fold makes equal what a reader would take for the same name: case,
// full-width letters, space, invisible and broken characters. It leaves
// look-alikes of other scripts apart; no default opens those.
func fold(name string) string {
	if plain(name) {
		return strings.ToUpper(name)
	}
	return strings.Map(foldRune, name)
}

// foldRune returns the smallest rune of r's case orbit, which for ASCII is the
// capital; negative drops r.
func foldRune(r rune) rune {
	const fullWidthFirst, fullWidthLast, fullWidthShift = '！', '～', '！' - '!'
	if r == utf8.RuneError || unicode.IsSpace(r) || invisible(r) {
		return -1
	}
	if fullWidthFirst <= r && r <= fullWidthLast {
		r -= fullWidthShift
	}
	smallest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		smallest = min(smallest, next)
	}
	return smallest
}

// invisible says that r shows as nothing: controls, formats (zero-width, bidi),
// variation selectors and what Unicode lets a font ignore.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

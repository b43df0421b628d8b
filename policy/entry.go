package policy

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/events"
)

// The words of a tool's name on an MCP server: server__tool here,
// mcp__server__tool in some hosts.
const (
	separator  = "__"
	hostPrefix = "mcp__"
)

// entry is one line of a list.
type entry struct {
	text   string
	raw    pattern // text as written
	folded pattern // text as fold leaves it
	// server and rest are text cut at its first separator, without the host's
	// prefix; empty where the entry names no server.
	server string
	rest   pattern
}

func newEntry(text string) entry {
	e := entry{text: text, raw: newPattern(text), folded: newPattern(fold(text))}
	server, rest, ok := strings.Cut(strings.TrimPrefix(text, hostPrefix), separator)
	if ok && rest != "" {
		e.server, e.rest = server, newPattern(rest)
	}
	return e
}

// covers is the wide match, of the entries that protect. It holds wherever
// opens does: folding may only add.
func (e entry) covers(s subject) bool {
	return e.raw.matchesAny(s.spellings) || e.folded.matchesAny(s.folded)
}

// opens is the narrow match, of the entries that free a call.
func (e entry) opens(s subject) bool {
	switch s.origin {
	case fromHere, fromSkill:
		return e.raw.opens(s.Tool)
	case fromServer:
		// An entry's server ends at the first separator, so a server with a
		// separator in its name never opens: files__admin__drop cannot be read
		// as a tool of another server than the operator meant.
		return e.server != "" && e.server == s.Server && e.rest.opens(s.bare)
	case fromElsewhere:
		return false
	}
	return false
}

// compare puts names before globs, then orders by bytes.
func (e entry) compare(other entry) int {
	if e.raw.isGlob() != other.raw.isGlob() {
		if e.raw.isGlob() {
			return 1
		}
		return -1
	}
	return cmp.Compare(e.text, other.text)
}

// String is the entry for people: letters that could pass for others are
// escaped.
func (e entry) String() string {
	if plain(strings.NewReplacer("*", "x", "?", "x").Replace(e.text)) {
		return e.text
	}
	return strconv.QuoteToASCII(e.text)
}

// checkEntry returns what is wrong with an entry, or "". It refuses what could
// never match a tool, above all the pattern languages of other products: an
// entry such as Bash(rm:*) that protects nothing must not start.
func checkEntry(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty; write a tool's name or remove the line"
	case len(text) > events.MaxNameBytes:
		return fmt.Sprintf("is longer than %d bytes, so it matches no tool; shorten it", events.MaxNameBytes)
	case !utf8.ValidString(text):
		return "is not valid UTF-8; save the file as UTF-8"
	case strings.TrimSpace(text) != text:
		return "has space around it; remove it"
	}
	for _, r := range text {
		if !entryRune(r) {
			return fmt.Sprintf("%+q cannot stand here; an entry is a tool's name, or a glob of * and ?", r)
		}
	}
	return ""
}

func entryRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '*' || r == '?' || plainRune(r)
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N) && !invisible(r)
}

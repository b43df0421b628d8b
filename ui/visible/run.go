package visible

import (
	"fmt"
	"strings"
)

// Where white space is long enough to push what follows it out of sight, it is
// shown as its length. Indentation and blank lines of ordinary texts are not.
const (
	longStretch = 40  // spaces in a row; a tab counts as tabWidth
	longBreaks  = 8   // line feeds with nothing but white space between them
	longBlank   = 100 // white space of any kind in a row, over lines
	tabWidth    = 4
)

// unit reads the white space at the beginning of s: how many bytes it takes, and
// whether it is a ' ', '\t', '\n' or '\r'; n is 0 where there is none. Where there
// is none, skip is how many bytes belong together.
type unit func(s string) (n int, what byte, skip int)

// plainUnit reads white space of a text.
func plainUnit(s string) (n int, what byte, skip int) {
	switch s[0] {
	case ' ', '\t', '\n', '\r':
		return 1, s[0], 1
	}
	return 0, 0, 1
}

// quotedUnit reads white space inside a JSON string, where it may be escaped.
func quotedUnit(s string) (n int, what byte, skip int) {
	if s[0] != '\\' || len(s) < 2 {
		return plainUnit(s)
	}
	switch s[1] {
	case 'n':
		return 2, '\n', 2
	case 'r':
		return 2, '\r', 2
	case 't':
		return 2, '\t', 2
	case 'u':
		if len(s) < 6 {
			break
		}
		if r := hex4(s[2:6]); r == ' ' || r == '\n' || r == '\r' || r == '\t' {
			return 6, byte(r), 6
		}
	}
	return 0, 0, 2
}

// blank is white space in a row.
type blank struct{ bytes, spaces, tabs, breaks, returns int }

func (b *blank) add(n int, what byte) {
	b.bytes += n
	switch what {
	case '\n':
		b.breaks++
	case '\t':
		b.tabs++
	case '\r':
		b.returns++
	default:
		b.spaces++
	}
}

func (b *blank) total() int { return b.spaces + b.tabs + b.breaks + b.returns }

// words say how much white space it is.
func (b *blank) words() string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{{b.breaks, "line feed", "line feeds"}, {b.returns, "carriage return", "carriage returns"}, {b.spaces, "space", "spaces"}, {b.tabs, "tab", "tabs"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, thousands(p.n)+" "+p.many)
		}
	}
	return strings.Join(parts, ", ")
}

// blankAt measures the white space at the beginning of s: all of it, and as far
// as to its last line feed.
func blankAt(s string, read unit) (all, lines blank) {
	for all.bytes < len(s) {
		n, what, _ := read(s[all.bytes:])
		if n == 0 {
			break
		}
		all.add(n, what)
		if what == '\n' {
			lines = all
		}
	}
	return all, lines
}

// nextRun finds the first long run of white space in s that begins before most:
// where, and what of; without one it begins at the end of s.
func nextRun(s string, most int, read unit) (start int, run blank) {
	for i := 0; i < min(len(s), most); {
		n, _, skip := read(s[i:])
		if n == 0 {
			i += skip
			continue
		}
		all, lines := blankAt(s[i:], read)
		if lines.bytes > 0 && (all.breaks >= longBreaks || lines.total() >= longBlank) {
			return i, lines
		}
		if at, stretch := longLine(s[i:i+all.bytes], read); stretch.bytes > 0 {
			return i + at, stretch
		}
		i += all.bytes
	}
	return len(s), blank{}
}

// longLine finds the first long stretch within one line of white space.
func longLine(s string, read unit) (at int, found blank) {
	var b blank
	for i := 0; i < len(s); {
		n, what, _ := read(s[i:])
		i += n
		if what != '\n' {
			b.add(n, what)
			continue
		}
		if b.spaces+tabWidth*b.tabs >= longStretch {
			return at, b
		}
		at, b = i, blank{}
	}
	if b.spaces+tabWidth*b.tabs >= longStretch {
		return at, b
	}
	return 0, blank{}
}

// marked shows a text, its long runs of white space as spans of their own, and
// what is between them by show.
func marked(s string, read unit, show func(string) []Span) []Span {
	var out []Span
	for s != "" {
		start, run := nextRun(s, len(s), read)
		if start > 0 {
			out = append(out, show(s[:start])...)
		}
		if run.bytes > 0 {
			out = append(out, runSpan(s[start:start+run.bytes], run))
		}
		s = s[start+run.bytes:]
	}
	return out
}

func runSpan(raw string, b blank) Span {
	return Span{Text: b.words(), Kind: Run, Count: 1, Broken: b.breaks > 0 && strings.HasSuffix(raw, "\n"), breaks: b.breaks, raw: raw}
}

// numbered tells each run that ends a line which line follows it. first is the
// number of the line in which the spans begin.
func numbered(spans []Span, first, of int) []Span {
	line := first
	for i, s := range spans {
		if s.Kind != Run {
			line += strings.Count(s.Text, "\n")
			continue
		}
		line += s.breaks
		if s.Broken && line <= of {
			spans[i].line, spans[i].of = line, of
		}
	}
	return spans
}

// runs counts the long runs of white space in a text.
func runs(s string) int {
	n := 0
	for s != "" {
		start, run := nextRun(s, len(s), plainUnit)
		if run.bytes > 0 {
			n++
		}
		s = s[start+run.bytes:]
	}
	return n
}

// thousands writes a number with its thousands apart.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

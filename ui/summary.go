package ui

import (
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/ui/visible"
)

// The names under which tools take what a line about a call should say first.
func pathNames() []string    { return []string{"path", "file_path"} }
func contentNames() []string { return []string{"content", "file_text"} }
func oldNames() []string     { return []string{"old", "old_string", "old_str"} }
func newNames() []string     { return []string{"new", "new_string", "new_str"} }

// telling are the arguments that say most about a call, for one line.
func telling() []string {
	return []string{"command", "path", "file_path", "url", "to", "subject", "query", "pattern", "name", "title"}
}

const (
	summaryBytes = 400 // of arguments besides the last one that a summary begins to tell
	summaryRoom  = 140 // code points of a summary's text
)

// summaryLine is a call's arguments in a line of so many code points: a hint for
// lists, never what is decided on. What it leaves out, it counts.
func summaryLine(text []byte, most int) []visible.Span {
	s := briefOf(text)
	line := visible.Line(s.text, most)
	if s.more != "" {
		line = append(line, visible.Span{Text: " " + s.more, Count: 1})
	}
	return line
}

// brief is a summary: what the model wrote, then what we say about it.
type brief struct{ text, more string }

// briefOf goes by the shape of the arguments, so it says the same of any tool
// that is built like ours.
func briefOf(text []byte) brief {
	all, ok := members(text)
	if !ok {
		return brief{text: string(text)}
	}
	if s, ok := shaped(all); ok {
		return s
	}
	return scalars(all)
}

// shaped writes the calls whose shape is known: a command, a write, an edit.
func shaped(all []argument) (brief, bool) {
	if _, command, ok := named(all, "command"); ok {
		return firstLine(command), true
	}
	_, path, ok := named(all, pathNames()...)
	if !ok {
		return brief{}, false
	}
	if _, content, ok := named(all, contentNames()...); ok {
		lines := len(linesOf(content))
		return brief{path, "· " + count(lines, "line", "lines") + ", " + bytesOf(len(content))}, true
	}
	if old, now, ok := replacement(all); ok {
		d := countLines(linesOf(old.text), linesOf(now.text))
		return brief{path, "· " + wordsOfDiff(d)}, true
	}
	return brief{}, false
}

// firstLine is the first line of a command that says anything, and how many
// more there are.
func firstLine(command string) brief {
	lines := linesOf(command)
	at := max(0, slices.IndexFunc(lines, func(s string) bool { return strings.TrimSpace(s) != "" }))
	if len(lines) <= 1 {
		return brief{text: command}
	}
	skipped := ""
	if at > 0 {
		skipped = "(" + count(at, "empty line", "empty lines") + ") "
	}
	s := brief{text: skipped + lines[at]}
	if rest := len(lines) - at - 1; rest > 0 {
		s.more = "… +" + count(rest, "line", "lines")
	}
	return s
}

// scalars are the arguments that are no objects or lists: the most telling ones
// first, then the others in the model's order.
func scalars(all []argument) brief {
	rank := func(m argument) int {
		if i := slices.Index(telling(), m.Name); i >= 0 {
			return i
		}
		return len(telling())
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b argument) int { return rank(a) - rank(b) })
	var parts []string
	size, more := 0, ""
	for i, m := range sorted {
		if size > summaryBytes {
			more = "… +" + count(len(sorted)-i, "argument", "arguments")
			break
		}
		s, isText := m.text()
		switch kind := m.Value.Kind(); {
		case isText:
		case kind == '{' || kind == '[':
			s = string(kind) + "…" + map[bool]string{true: "}", false: "]"}[kind == '{']
		default:
			s = string(m.Value)
		}
		if len(all) > 1 || !slices.Contains(telling(), m.Name) {
			s = shortened([]byte(m.Name), 60) + ": " + s
		}
		parts = append(parts, s)
		size += len(s)
	}
	if len(parts) == 0 {
		return brief{text: "{}"}
	}
	return brief{strings.Join(parts, " · "), more}
}

// found is an argument's name and its text.
type found struct{ name, text string }

// replacement finds the two texts of an edit among the arguments.
func replacement(all []argument) (old, now found, ok bool) {
	for i := range oldNames() {
		a, was, okA := named(all, oldNames()[i])
		b, is, okB := named(all, newNames()[i])
		if okA && okB && len(was)+len(is) <= maxCompared {
			return found{a.Name, was}, found{b.Name, is}, true
		}
	}
	return found{}, found{}, false
}

// replacesView is what an edit takes away, and what it puts there.
type replacesView struct {
	Old, New string // the names of the arguments
	In       []visible.Span
	diff
}

// replacesOf compares the two texts of an edit.
func replacesOf(all []argument) *replacesView {
	old, now, ok := replacement(all)
	if !ok {
		return nil
	}
	v := &replacesView{Old: old.name, New: now.name, diff: compareLines(linesOf(old.text), linesOf(now.text))}
	if _, path, ok := named(all, pathNames()...); ok {
		v.In = visible.Line(path, 160)
	}
	return v
}

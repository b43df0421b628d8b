package ui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui/visible"
)

// comparison is what differs between two arguments: which members, the laid-out
// texts line by line, and by itself each argument that has line feeds, as the
// tool reads it.
type comparison struct {
	Members []pointerView
	More    int // changed members that are not named
	Main    diff
	Texts   []textDiff
	// Same: no value differs. Written: only how they are written does.
	Same, Written bool
	Long          bool // too long to be compared here
}

// textDiff compares one argument as the tool reads it.
type textDiff struct {
	Name string
	diff
}

// maxTextDiffs is how many arguments are compared as texts of their own.
const maxTextDiffs = 6

// compare compares two texts of arguments. It never fails: what is no valid
// JSON is compared as it is.
func compare(before, after []byte) comparison {
	if len(before)+len(after) > maxCompared {
		return comparison{Long: true}
	}
	v := comparison{Written: string(before) != string(after)}
	before, after = asRun(before), asRun(after)
	a, errA := events.DecodeArguments(before)
	b, errB := events.DecodeArguments(after)
	if errA == nil && errB == nil {
		v.Members, v.More = changedMembers(a.Value, b.Value)
		v.Same = len(v.Members) == 0
	} else {
		v.Same = !v.Written
	}
	v.Texts = textDiffs(before, after)
	v.Main = compareLines(laidLines(before, v.Texts), laidLines(after, v.Texts))
	return v
}

// textDiffs compares the arguments that are texts of several lines on either
// side, and differ.
func textDiffs(before, after []byte) []textDiff {
	old, _ := members(before)
	now, _ := members(after)
	var out []textDiff
	for _, m := range now {
		text, ok := m.text()
		_, was, had := named(old, m.Name)
		if !ok || !had || text == was || !strings.Contains(text+was, "\n") || len(out) == maxTextDiffs {
			continue
		}
		out = append(out, textDiff{m.Name, compareLines(linesOf(was), linesOf(text))})
	}
	return out
}

// apartMark stands for a text that is compared by itself.
const apartMark = "(a text of several lines, compared below)"

// laidLines lays arguments out, a member a line, as Typable does. Texts that
// are compared by themselves are only named.
func laidLines(text []byte, apart []textDiff) []string {
	all, ok := members(text)
	if !ok || len(apart) == 0 {
		return strings.Split(visible.Typable(text), "\n")
	}
	lines := []string{"{"}
	for i, m := range all {
		comma := ","
		if i == len(all)-1 {
			comma = ""
		}
		label := "  " + visible.Escaped(string(m.Label)) + ": "
		if _, ok := m.text(); ok && slices.ContainsFunc(apart, func(d textDiff) bool { return d.Name == m.Name }) {
			lines = append(lines, label+apartMark+comma)
			continue
		}
		lines = append(lines, strings.Split(label+laidValue(m.Value)+comma, "\n")...)
	}
	return append(lines, "}")
}

func laidValue(v jsontext.Value) string {
	laid := v.Clone()
	if laid.Indent(jsontext.WithIndent("  "), jsontext.WithIndentPrefix("  ")) != nil {
		laid = v
	}
	return visible.Escaped(string(laid))
}

// wordsOfDiff says how much differs.
func wordsOfDiff(d diff) string {
	switch {
	case d.Added == 0 && d.Removed == 0:
		return "no line differs"
	case d.Removed == 0:
		return "+" + count(d.Added, "line", "lines")
	case d.Added == 0:
		return "−" + count(d.Removed, "line", "lines")
	}
	return "+" + strconv.Itoa(d.Added) + " −" + strconv.Itoa(d.Removed) + " lines"
}

package ui

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/ui/visible"
)

// The small phrases of the templates.

func title(s shellView) string {
	t := s.Title + " · Countersign"
	if s.Pending > 0 {
		t = "(" + group(s.Pending) + ") " + t
	}
	return t
}

// digits writes a number for programs.
func digits[T int | uint64](n T) string { return fmt.Sprint(n) }

// sentence makes an error's words a sentence.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// hiddenWords ends the sentence of a warning.
func hiddenWords(r visible.Report, what string) string {
	s := "in " + what
	switch {
	case r.Hidden == 1 && r.Directions == 1:
		return s + ", a direction control. It is shown as an escape."
	case r.Hidden == 1:
		return s + ". It is shown as an escape."
	case r.Directions > 0:
		s += ", " + count(r.Directions, "direction control", "direction controls") + " among them"
	}
	return s + ". They are shown as escapes."
}

// runWords ends the sentence about long runs of white space.
func runWords(n int, what string) string {
	if n == 1 {
		return "in " + what + ". It is shown as its length, and the text goes on after it."
	}
	return "in " + what + ". Each is shown as its length, and the text goes on after it."
}

// sizeWords says how long a text is, how much of it the record has, and how much
// of that is shown.
func sizeWords(v textView) string {
	lines := ""
	if v.Text.Lines > 1 {
		lines = " in " + group(v.Text.Lines) + " lines"
	}
	size := bytesOf(v.Text.Bytes)
	switch {
	case v.Whole == 0 && v.Text.Whole():
		return size + lines + ", all shown"
	case v.Whole == 0:
		return size + lines + ", " + bytesOf(v.Text.Left) + " of them not shown here"
	case v.Text.Whole():
		return "On record are " + size + lines + " of " + bytesOf(v.Whole) + ". All that is on record is shown"
	}
	return "On record are " + size + lines + " of " + bytesOf(v.Whole) + ". Of what is on record, " + bytesOf(v.Text.Left) + " are not shown here"
}

// folds reports whether a text is long enough to be folded on a page.
func folds(t visible.Text) bool {
	n := 0
	for _, s := range t.Head {
		n += len(s.Text)
	}
	return n > foldBudget || t.Lines > 400 || !t.Whole()
}

// peek is the beginning of a folded text.
func peek(t visible.Text) []visible.Span {
	return append(visible.Show(visible.Bytes(t.Head), 2<<10, 0).Head, visible.Span{Text: " …", Count: 1})
}

func foldLabel(t visible.Text) string {
	if t.Whole() {
		return "Show all " + bytesOf(t.Bytes)
	}
	return "Show the beginning and the end of " + bytesOf(t.Bytes)
}

// filtersOn says what is folded away, and how much of it is on.
func filtersOn(n int) string {
	if n == 0 {
		return "Filters"
	}
	return "Filters, " + group(n) + " on"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func wants(pending bool) string {
	if pending {
		return "wants"
	}
	return "wanted"
}

func argumentsHeading(v requestView) string {
	if v.Changed != nil {
		return "Arguments as changed, exactly as the tool gets them"
	}
	return "Arguments, exactly as the tool gets them"
}

// fieldRows is how many lines a text field shows at most.
const fieldRows = 24

// rows is how many lines a text field shows.
func rows(text string) string { return digits(min(fieldRows, 2+strings.Count(text, "\n"))) }

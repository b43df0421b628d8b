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
	if r.Directions > 0 {
		s += ", " + count(r.Directions, "direction control", "direction controls") + " among them"
	}
	return s + ". They are shown as escapes."
}

func shownWords(t visible.Text) string {
	if t.Whole() {
		return "all shown"
	}
	return bytesOf(t.Left) + " not shown here"
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

// rows is how many lines a text field shows.
func rows(text string) string { return digits(min(24, 2+strings.Count(text, "\n"))) }

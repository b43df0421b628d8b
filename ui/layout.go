package ui

import (
	"context"
	"html"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign-dev/countersign/ui/visible"
)

// Small words of the templates.

func title(s shellView) string {
	t := s.Title + " · Countersign"
	if s.Pending > 0 {
		t = "(" + group(s.Pending) + ") " + t
	}
	return t
}

func itoa(n int) string { return strconv.Itoa(n) }

// group0 writes a number for the script.
func group0(n uint64) string { return strconv.FormatUint(n, 10) }

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

func afterComma(s string) string {
	_, after, _ := strings.Cut(s, ", in ")
	return after
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

func diffClass(sign string) string {
	switch sign {
	case "+":
		return " a"
	case "-":
		return " d"
	default:
		return ""
	}
}

// diffText writes a comparison: each line in an element of its own, with its
// sign and its line feed.
func diffText(lines []diffLine) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(`<span class="l` + diffClass(l.Sign) + `">` + html.EscapeString(l.Sign) + " ")
			for _, s := range l.Spans {
				writeSpan(&b, s)
			}
			b.WriteString("\n</span>")
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
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
func rows(text string) string { return strconv.Itoa(min(24, 2+strings.Count(text, "\n"))) }

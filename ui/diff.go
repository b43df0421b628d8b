package ui

import (
	"context"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign-dev/countersign/ui/visible"
)

// maxDiffLines bounds the texts that are compared line by line.
const maxDiffLines = 1500

// diffLine is a line of a comparison: "-" only before, "+" only after, " " both.
type diffLine struct {
	Sign  string
	Spans []visible.Span
}

// diff compares two JSON texts, laid out, line by line. ok is false where they
// are too long.
func diff(before, after []byte) (lines []diffLine, ok bool) {
	a := strings.Split(visible.Typable(before), "\n")
	b := strings.Split(visible.Typable(after), "\n")
	if len(a) > maxDiffLines || len(b) > maxDiffLines || len(before)+len(after) > 2*changeBudget {
		return nil, false
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	lines = appendLines(nil, " ", a[:head])
	lines = append(lines, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return appendLines(lines, " ", a[len(a)-tail:]), true
}

func appendLines(lines []diffLine, sign string, texts []string) []diffLine {
	for _, s := range texts {
		lines = append(lines, diffLine{Sign: sign, Spans: visible.Show([]byte(s), laidBudget, 0).Head})
	}
	return lines
}

// middle compares what is left after equal beginnings and ends: by the longest
// common subsequence.
func middle(a, b []string) []diffLine {
	common := suffixes(a, b)
	var lines []diffLine
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			lines = appendLines(lines, " ", a[i:i+1])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			lines = appendLines(lines, "-", a[i:i+1])
			i++
		default:
			lines = appendLines(lines, "+", b[j:j+1])
			j++
		}
	}
	return appendLines(appendLines(lines, "-", a[i:]), "+", b[j:])
}

// suffixes holds the length of the longest common subsequence of all suffixes.
func suffixes(a, b []string) [][]int16 {
	t := make([][]int16, len(a)+1)
	for i := range t {
		t[i] = make([]int16, len(b)+1)
	}
	for i, line := range slices.Backward(a) {
		for j := len(b) - 1; j >= 0; j-- {
			if line == b[j] {
				t[i][j] = t[i+1][j+1] + 1
			} else {
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	return t
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

package ui

import (
	"context"
	"html"
	"io"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign-dev/countersign/ui/visible"
)

// diffText writes a comparison: each line in an element of its own, with its
// sign and its line feed. By hand, because white space counts.
func diffText(lines []diffLine) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, l := range lines {
			if l.Skipped > 0 {
				b.WriteString(`<span class="l skip">… ` + count(l.Skipped, "equal line", "equal lines") + "\n</span>")
				continue
			}
			b.WriteString(`<span class="l` + diffClass(l.Sign) + `">` + html.EscapeString(l.Sign) + " ")
			if l.Empty > 0 {
				b.WriteString(`<span class="esc run">· ` + count(l.Empty, "empty line", "empty lines") + " ·</span>")
			}
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

// visibleName and plainName write the name of an argument, which is theirs.
func visibleName(name string) []visible.Span { return visible.Line(name, 80) }
func plainName(name string) string           { return visible.String(shortened([]byte(name), 80)) }

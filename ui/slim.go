package ui

import (
	"strings"

	"github.com/countersign-dev/countersign/ui/visible"
)

// slim cuts spans to about so many bytes of HTML, so that a list stays light
// whatever its rows hold: the name of a hidden character takes fifty. A cut ends
// with an ellipsis; the page of the thing shows all of it.
func slim(spans []visible.Span, most int) []visible.Span {
	for i, s := range spans {
		n := weight(s)
		if n <= most {
			most -= n
			continue
		}
		if s.Kind == "" {
			s.Text = slimText(s.Text, most)
			return append(spans[:i:i], s)
		}
		return append(spans[:i:i], visible.Span{Text: "…", Count: 1})
	}
	return spans
}

// slimText is the beginning of an ordinary text.
func slimText(s string, most int) string {
	for i, r := range s {
		if most -= weight(visible.Span{Text: string(r)}); most < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// weight is how many bytes of HTML a span takes.
func weight(s visible.Span) int {
	var b strings.Builder
	writeSpan(&b, s)
	return b.Len()
}

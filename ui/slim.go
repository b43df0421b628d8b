package ui

import (
	"unicode/utf8"

	"github.com/countersign-dev/countersign/ui/visible"
)

// slim cuts spans to about so many bytes of HTML, so that a list stays light
// whatever its rows hold: the name of a hidden character takes fifty. A cut says
// how much it leaves out; the page of the thing shows all of it.
func slim(spans []visible.Span, most int) []visible.Span {
	for i, s := range spans {
		n := visible.Cost(spans[i : i+1])
		if n <= most || s.Kind == visible.Cut {
			most -= n
			continue
		}
		size := visible.Size(spans[i:])
		out := spans[:i:i]
		if s.Kind == "" {
			s.Text = slimText(s.Text, most)
			size -= len(s.Text)
			out = append(out, s)
		}
		return append(out, visible.CutOff(size))
	}
	return spans
}

// slimText is the beginning of an ordinary text.
func slimText(s string, most int) string {
	for i, r := range s {
		if most -= visible.Cost([]visible.Span{{Text: string(r)}}); most < 0 {
			return s[:i]
		}
	}
	return s
}

// shortened is a text of at most so many bytes; a cut ends with an ellipsis.
func shortened(b []byte, most int) string {
	if len(b) <= most {
		return string(b)
	}
	return headOf(b, most) + "…"
}

// headOf is the beginning of a text, cut at a whole code point. What is not
// UTF-8 stays in it, for package visible to show.
func headOf(b []byte, most int) string {
	if len(b) <= most {
		return string(b)
	}
	for most > 0 && !utf8.RuneStart(b[most]) {
		most--
	}
	return string(b[:most])
}

package ui

import (
	"unicode/utf8"

	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// foundView is where a search found its text.
type foundView struct {
	In                  string
	Before, Match, Tail []visible.Span
}

// foundOf shows a hit; what is not within its excerpt is not marked.
func foundOf(h *projections.Hit) *foundView {
	if h == nil {
		return nil
	}
	start := min(max(h.Start, 0), len(h.Excerpt))
	end := min(max(h.End, start), len(h.Excerpt))
	return &foundView{
		In:     foundWord(h.Text),
		Before: slim(visible.Line(endingOf(string(h.Excerpt[:start]), 32), 34), 240), Match: slim(visible.Line(string(h.Excerpt[start:end]), 256), 400),
		Tail: slim(visible.Line(string(h.Excerpt[end:]), 60), 240),
	}
}

// endingOf is the end of a text, of at most so many code points.
func endingOf(s string, most int) string {
	for i, n := len(s), 0; i > 0; n++ {
		if n == most {
			return "…" + s[i:]
		}
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s
}

// foundWord names the text in which something was found.
func foundWord(text string) string {
	switch text {
	case "arguments":
		return "In the arguments"
	case "result":
		return "In the result"
	case "comment":
		return "In a comment"
	case "query":
		return "In the query of the run"
	case "message":
		return "In the model's message"
	case "tool":
		return "In the tool's name"
	default:
		return "In the record"
	}
}

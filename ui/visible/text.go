package visible

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Span is a piece of text. With a Kind it is the name of a code point that is
// not shown as itself, Count times in a row, or says how much of what is not
// shown as itself; without, it is ordinary text.
type Span struct {
	Text   string
	Kind   Kind
	Count  int
	Class  string // what the piece is in its language: "k" name, "s" string, "n" number; "" nothing
	Broken bool   // a run after which a new line begins
	raw    string // the bytes that one of Count stands for
	left   int    // bytes that a cut leaves out
	breaks int    // line feeds within a run

	line, of int // of a run: which line follows it, of how many; 0: not known
}

// Label is the text of a span with its count.
func (s Span) Label() string {
	switch {
	case s.Kind == Run && s.line > 0:
		return fmt.Sprintf("· %s; line %s of %s follows ·", s.Text, thousands(s.line), thousands(s.of))
	case s.Kind == Run:
		return "· " + s.Text + " ·"
	case s.Kind == "" || s.Count == 1:
		return s.Text
	}
	return fmt.Sprintf("%s ×%d", s.Text, s.Count)
}

// Text is a text made visible, whole or as head and tail.
type Text struct {
	Head, Tail []Span
	Left       int // bytes between head and tail that are not in either
	Bytes      int // of the whole
	Lines      int // of the whole
	Report
}

// Whole reports whether all of the text is in Head.
func (t Text) Whole() bool { return t.Left == 0 }

// Report counts what a reader of the plain text would not see.
type Report struct {
	Hidden     int // code points and bytes that are not shown as themselves
	Directions int // of these, direction controls
	Runs       int // long runs of white space, shown as their length
}

// walk visits the code points of a text, and the bytes that belong to none,
// each with why it is not shown as itself, until visit returns false.
func walk(b []byte, visit func(at, n int, r rune, kind Kind) bool) {
	before, marks := rune(0), 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		kind := hidden(r)
		mark := r >= 0x300 && unicode.Is(unicode.M, r)
		switch {
		case r == utf8.RuneError && n == 1:
			kind = BadByte
		case kind == "" && mark && stray(r, before, marks):
			kind = Mark
		}
		if !visit(i, n, r, kind) {
			return
		}
		marks++
		if !mark {
			marks = 0
		}
		before = r
		if kind != "" {
			before = 0
		}
		i += n
	}
}

// spans makes a text visible, its long runs of white space as their length.
func spans(b []byte) []Span {
	return marked(string(b), plainUnit, func(s string) []Span { return bare([]byte(s)) })
}

// bare makes a text visible, all white space as it is.
func bare(b []byte) []Span {
	var out []Span
	start := 0
	walk(b, func(at, n int, r rune, kind Kind) bool {
		if kind == "" {
			return true
		}
		if at > start {
			out = append(out, Span{Text: string(b[start:at]), Count: 1})
		}
		start = at + n
		text := name(r)
		if kind == BadByte {
			text = badByte(b[at])
		}
		out = push(out, Span{Text: text, Kind: kind, Count: 1, raw: string(b[at:start])})
		return true
	})
	if start < len(b) {
		out = append(out, Span{Text: string(b[start:]), Count: 1})
	}
	return out
}

// push appends a hidden code point, or counts it where it repeats.
func push(out []Span, s Span) []Span {
	if last := len(out) - 1; last >= 0 && out[last].Kind == s.Kind && out[last].raw == s.raw && out[last].Class == s.Class {
		out[last].Count++
		return out
	}
	return append(out, s)
}

// Bytes turns spans back into the bytes that they stand for.
func Bytes(spans []Span) []byte {
	var b []byte
	for _, s := range spans {
		if s.Kind == "" {
			b = append(b, s.Text...)
			continue
		}
		for range s.Count {
			b = append(b, s.raw...)
		}
	}
	return b
}

// Size is how many bytes of the text spans stand for, with what a cut left out.
func Size(spans []Span) int {
	n := 0
	for _, s := range spans {
		switch s.Kind {
		case "":
			n += len(s.Text)
		case Cut:
			n += s.left
		default:
			n += s.Count * len(s.raw)
		}
	}
	return n
}

// CutOff stands at the end of a line for so many bytes that are not in it.
func CutOff(n int) Span {
	words := "1 byte"
	if n != 1 {
		words = thousands(n) + " bytes"
	}
	return Span{Text: "… +" + words, Kind: Cut, Count: 1, left: n}
}

func report(spans []Span) Report {
	var r Report
	for _, s := range spans {
		if s.Kind == Run {
			r.Runs++
		}
		if s.Kind == "" || s.Kind == Run || s.Kind == Break || s.Kind == Cut {
			continue
		}
		r.Hidden += s.Count
		if s.Kind == Direction {
			r.Directions += s.Count
		}
	}
	return r
}

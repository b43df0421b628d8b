package visible

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Span is a piece of text. With a Kind it is the name of a code point that is
// not shown as itself, Count times in a row; without, it is ordinary text.
type Span struct {
	Text  string
	Kind  Kind
	Count int
	Class string // what the piece is in its language: "k" name, "s" string, "n" number; "" nothing
	raw   string // the bytes that one of Count stands for
}

// Label is the text of a span with its count.
func (s Span) Label() string {
	if s.Kind == "" || s.Count == 1 {
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
}

// spans makes a text visible.
func spans(b []byte) []Span {
	var out []Span
	start, before, marks := 0, rune(0), 0
	flush := func(end int) {
		if end > start {
			out = append(out, Span{Text: string(b[start:end]), Count: 1})
		}
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		text, kind := judge(b[i], r, n, before, marks)
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		before = r
		if kind != "" {
			flush(i)
			start, before = i+n, 0
			out = push(out, Span{Text: text, Kind: kind, Count: 1, raw: string(b[i : i+n])})
		}
		i += n
	}
	flush(len(b))
	return out
}

func judge(first byte, r rune, n int, before rune, marks int) (string, Kind) {
	if r == utf8.RuneError && n == 1 {
		return badByte(first), BadByte
	}
	kind := hidden(r)
	if kind == "" && stray(r, before, marks) {
		kind = Mark
	}
	return name(r), kind
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

func report(spans []Span) Report {
	var r Report
	for _, s := range spans {
		if s.Kind == "" {
			continue
		}
		r.Hidden += s.Count
		if s.Kind == Direction {
			r.Directions += s.Count
		}
	}
	return r
}

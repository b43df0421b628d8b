package visible

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Why a text cannot be laid out as JSON: it is then shown as it is.
var (
	ErrNotJSON  = errors.New("it is not valid JSON")
	ErrTooDeep  = errors.New("it is nested too deep to be laid out")
	ErrTooLarge = errors.New("it is too large to be laid out")
)

// maxDepth is how deep a JSON text may be nested to be laid out.
const maxDepth = 64

// JSON lays a JSON text out, a member a line, its strings and numbers as they
// are written, within about budget bytes of HTML. Escapes inside a string that
// stand for a code point that nobody would see are marked as hidden too.
func JSON(b []byte, budget int) (Text, error) {
	t := Text{Bytes: len(b), Lines: lines(b)}
	if len(b) > budget {
		return t, ErrTooLarge
	}
	if depth(b) > maxDepth {
		return t, ErrTooDeep
	}
	laid := jsontext.Value(strings.Clone(string(b)))
	if err := laid.Indent(jsontext.WithIndent("  ")); err != nil {
		return t, fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	t.Head = colour(string(laid))
	t.Report = report(t.Head)
	if cost(t.Head) > budget {
		return t, ErrTooLarge
	}
	return t, nil
}

// depth is the deepest nesting of a text, counted outside of strings.
func depth(b []byte) (deepest int) {
	now, inside, escaped := 0, false, false
	for _, c := range b {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// colour splits valid JSON into classed spans.
func colour(s string) []Span {
	var out []Span
	for i := 0; i < len(s); {
		n, class := token(s[i:])
		out = append(out, literal(s[i:i+n], class)...)
		i += n
	}
	return out
}

// token returns the length of the piece at the beginning of s, and its class.
func token(s string) (int, string) {
	if s[0] == '"' {
		n := stringLen(s)
		if n < len(s) && s[n] == ':' {
			return n, "k"
		}
		return n, "s"
	}
	if n := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("+-.0123456789Eaeflnrstu", r) }); n > 0 {
		return n, "n"
	} else if n < 0 {
		return len(s), "n"
	}
	if n := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("{}[]:, \n", r) }); n >= 0 {
		return max(n, 1), ""
	}
	return len(s), ""
}

func stringLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// literal makes one token visible, and marks its escapes of hidden code points.
func literal(s, class string) []Span {
	if class != "s" && class != "k" {
		return unescaped(s, class) // its indentation is ours
	}
	return marked(s, quotedUnit, func(s string) []Span { return unescaped(s, class) })
}

// unescaped makes a part of a token visible that begins with no half of an escape.
func unescaped(s, class string) []Span {
	var out []Span
	for _, span := range bare([]byte(s)) {
		span.Class = class
		if span.Kind != "" || class != "s" && class != "k" || !strings.Contains(span.Text, `\`) {
			out = append(out, span)
			continue
		}
		out = append(out, escapes(span)...)
	}
	return out
}

func escapes(span Span) []Span {
	var out []Span
	s, start := span.Text, 0
	for i := 0; i+1 < len(s); {
		if s[i] != '\\' {
			i++
			continue
		}
		n, kind := escape(s[i:])
		if kind != "" {
			if i > start {
				out = append(out, Span{Text: s[start:i], Count: 1, Class: span.Class})
			}
			start = i + n
			out = push(out, Span{Text: s[i : i+n], Kind: kind, Count: 1, Class: span.Class, raw: s[i : i+n]})
		}
		i += n
	}
	if start < len(s) {
		out = append(out, Span{Text: s[start:], Count: 1, Class: span.Class})
	}
	return out
}

// escape reads the JSON escape at the beginning of s: its length, and why what
// it stands for would not be seen.
func escape(s string) (int, Kind) {
	switch {
	case s[1] == 'b' || s[1] == 'f':
		return 2, Control
	case s[1] != 'u' || len(s) < 6:
		return 2, ""
	}
	r := hex4(s[2:6])
	if !utf16.IsSurrogate(r) {
		if r == '\n' || r == '\t' || r == '\r' {
			return 6, ""
		}
		return 6, hidden(r)
	}
	if len(s) >= 12 && s[6:8] == `\u` {
		if whole := utf16.DecodeRune(r, hex4(s[8:12])); whole != utf8.RuneError {
			return 12, hidden(whole)
		}
	}
	return 6, BadByte
}

func hex4(s string) rune {
	n, err := strconv.ParseUint(s, 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// Typable writes a JSON text for a text field: laid out, and with every code
// point that nobody would see as a JSON escape, which means the same inside a
// string. What is not valid JSON is only escaped.
func Typable(b []byte) string {
	text := string(b)
	if laid := jsontext.Value(strings.Clone(text)); depth(b) <= maxDepth && laid.Indent(jsontext.WithIndent("  ")) == nil {
		text = string(laid)
	}
	return Escaped(text)
}

// Escaped replaces every code point that nobody would see by a JSON escape.
func Escaped(text string) string {
	const digits = "0123456789abcdef"
	b, start := []byte(text), 0
	var out []byte
	var units [2]uint16
	walk(b, func(at, n int, r rune, kind Kind) bool {
		if kind == "" {
			return true
		}
		out = append(out, b[start:at]...)
		start = at + n
		for _, u := range utf16.AppendRune(units[:0], r) {
			out = append(out, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
		}
		return true
	})
	if start == 0 {
		return text
	}
	return string(append(out, b[start:]...))
}

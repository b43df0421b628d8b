package projections

import (
	"bytes"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// What is searched is not a text as it was written but its plain form: escapes
// of JSON strings are resolved, letters have lost their case, and spellings that
// Unicode takes for the same (NFKC) are one. Query and text go the same way.

// readable is a text as people search it: without the escapes of JSON.
func readable(json bool, b []byte) []byte {
	if !json || bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	return unescaped(b)
}

// unescaped resolves the escapes of JSON strings. What is no escape stays.
func unescaped(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			i++
			continue
		}
		r, n := escape(b[i:])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out
}

// escape reads the escape at the begin of b, of n bytes.
func escape(b []byte) (r rune, n int) {
	switch b[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'u':
		r, ok := hexRune(b)
		if !ok {
			return '\\', 1
		}
		if second, ok := hexRune(b[6:]); ok && utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6 // half a pair becomes U+FFFD
	}
	return '\\', 1
}

// hexRune reads \uXXXX.
func hexRune(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch c |= 0x20; { // of letters, lower case; digits have that bit
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// plain returns the plain form of a text.
func plain(b []byte) []byte {
	var p plainer
	return p.append(make([]byte, 0, len(b)), b)
}

// append appends the plain form of a text.
func (p *plainer) append(out, b []byte) []byte {
	p.each(b, func(_, _ int, s []byte) { out = append(out, s...) })
	return out
}

// each calls f with the plain form of each piece of a text, and where the
// piece begins and ends in it: a run of ASCII, or what Unicode normalizes
// together. What f gets is its own until it returns.
func (p *plainer) each(b []byte, f func(start, end int, plain []byte)) {
	for i := 0; i < len(b); {
		n := ascii(b[i:])
		if n > 1 && i+n < len(b) {
			n-- // the last may combine with what follows
		}
		if n > 1 || n == 1 && i+n == len(b) {
			f(i, i+n, p.lower(b[i:i+n]))
			i += n
			continue
		}
		n = norm.NFKC.NextBoundary(b[i:], true)
		f(i, i+n, p.folded(b[i:i+n]))
		i += n
	}
}

// ascii is how many bytes at the begin of b are ASCII, and no controls.
func ascii(b []byte) int {
	for i, c := range b {
		if c >= 0x7f || c < ' ' && !isSpace(rune(c)) {
			return i
		}
	}
	return len(b)
}

// plainer makes plain forms in a room that it keeps.
type plainer struct {
	room []byte
	fold *cases.Caser
}

// lower is the plain form of ASCII.
func (p *plainer) lower(b []byte) []byte {
	p.room = append(p.room[:0], b...)
	for i, c := range p.room {
		if 'A' <= c && c <= 'Z' {
			p.room[i] = c | 0x20
		}
	}
	return p.room
}

// folded is the plain form of any text.
func (p *plainer) folded(b []byte) []byte {
	if isPlain(b) {
		return b
	}
	if p.fold == nil {
		fold := cases.Fold()
		p.fold = &fold
	}
	b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	return withoutControls(norm.NFKC.Bytes(p.fold.Bytes(norm.NFKC.Bytes(b))))
}

// isPlain reports whether a text is one character that is its own plain form: most
// of the scripts that know no upper and lower case.
func isPlain(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	return n == len(b) && n > 1 && r != 0x7f && unicode.SimpleFold(r) == r && !unicode.In(r, unicode.Lower, unicode.Upper, unicode.Title) &&
		norm.NFKC.IsNormal(b) && (r != utf8.RuneError || n == 3)
}

// withoutControls puts characters that no text should have (Unicode, section
// 23.7) in the place of control characters, which would end a word of the index,
// or all of it.
func withoutControls(b []byte) []byte {
	return bytes.Map(func(r rune) rune {
		switch {
		case r < ' ' && !isSpace(r):
			return 0xFDD0 + r
		case r == 0x7f:
			return 0xFFFF
		}
		return r
	}, b)
}

// originalSpan returns where a span of the plain form stands in the text: the
// pieces that it touches, to the byte where they are ASCII.
func originalSpan(b []byte, from, to int) (start, end int) {
	at, found := 0, false
	new(plainer).each(b, func(s, e int, p []byte) {
		if at < to && at+len(p) > from {
			same := len(p) == e-s && ascii(b[s:e]) == e-s
			if !found {
				start, found = s, true
				if same {
					start = s + max(0, from-at)
				}
			}
			if end = e; same {
				end = s + min(to-at, e-s)
			}
		}
		at += len(p)
	})
	return start, end
}

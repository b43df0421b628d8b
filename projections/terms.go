package projections

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrSearch is for a search text that is too long.
var ErrSearch = errors.New("the search is too long")

// The bounds of a search text.
const (
	MaxQueryBytes = 256
	MaxQueryTerms = 16
)

// trigramsOfTerm is how many trigrams of a term are asked for: so many leave few
// calls that do not have the term itself, and those are seen when the text is
// read.
const trigramsOfTerm = 12

// term is what white space separates in a search text, in its plain form.
type term struct {
	text  []byte
	short bool // one or two characters
}

// termsOf splits a search text. All of it is data: no sign has a meaning.
func termsOf(query string) ([]term, error) {
	if len(query) > MaxQueryBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are searched for", ErrSearch, len(query), MaxQueryBytes)
	}
	fields := bytes.Fields(plain([]byte(query)))
	if len(fields) > MaxQueryTerms {
		return nil, fmt.Errorf("%w: it has %d words, at most %d are searched for", ErrSearch, len(fields), MaxQueryTerms)
	}
	var terms []term
	for _, f := range fields {
		terms = append(terms, term{text: f, short: utf8.RuneCount(f) < 3})
	}
	return terms, nil
}

// indexed reports whether the index knows the term.
func (t term) indexed() bool { return !t.short || indexedShort(t.text) }

// match is the term as a query of the index.
func (t term) match() string {
	if t.short {
		return quoted(string(t.text))
	}
	runes := bytes.Runes(t.text)
	n := len(runes) - 2
	var all []string
	for i := range min(n, trigramsOfTerm) {
		at := i * n / min(n, trigramsOfTerm)
		all = append(all, quoted(string(runes[at:at+3])))
	}
	var long []string
	eachLongGram(t.text, func(g []byte) { long = append(long, quoted(string(g))) })
	if len(long) > 0 {
		all = append(all, "("+quoted(shortText)+" OR ("+strings.Join(long, " AND ")+"))")
	}
	return strings.Join(all, " AND ")
}

// quoted is a string of the index's query language.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// find returns where the term first stands in a plain text: a short one as a
// word of its own.
func (t term) find(s []byte) (start int, found bool) {
	for at := 0; at <= len(s); {
		i := bytes.Index(s[at:], t.text)
		if i < 0 {
			return 0, false
		}
		at += i
		if !t.short || alone(s, at, at+len(t.text)) {
			return at, true
		}
		_, n := utf8.DecodeRune(s[at:])
		at += n
	}
	return 0, false
}

// alone reports whether no word goes on before or behind a span.
func alone(s []byte, start, end int) bool {
	first, _ := utf8.DecodeRune(s[start:])
	last, _ := utf8.DecodeLastRune(s[:end])
	before, n := utf8.DecodeLastRune(s[:start])
	if n > 0 && joined(kindOf(before), kindOf(first)) {
		return false
	}
	return !joined(kindOf(last), charAt(s, end).kind)
}

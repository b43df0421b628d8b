package projections

import (
	"bytes"
	"errors"
	"fmt"
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

// grams are the numbers of what a text must have that has the term, and of what it
// must have besides if it is long.
func (t term) grams() (all, long []uint64) {
	runes := bytes.Runes(t.text)
	if t.short {
		return []uint64{numberOf(key(runes[0], append(runes, 0)[1], 0))}, nil
	}
	n := len(runes) - 2
	for i := range min(n, trigramsOfTerm) {
		at := i * n / min(n, trigramsOfTerm)
		all = append(all, numberOf(key(runes[at], runes[at+1], runes[at+2])))
	}
	eachLongGram(t.text, func(gram uint64) { long = append(long, gram) })
	return all, long
}

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

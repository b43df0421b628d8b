package projections

import (
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
	text  string
	short bool // one or two characters
}

// termsOf splits a search text. All of it is data: no sign has a meaning.
func termsOf(query string) ([]term, error) {
	if len(query) > MaxQueryBytes {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are searched for", ErrSearch, len(query), MaxQueryBytes)
	}
	fields := strings.Fields(plain([]byte(query)))
	if len(fields) > MaxQueryTerms {
		return nil, fmt.Errorf("%w: it has %d words, at most %d are searched for", ErrSearch, len(fields), MaxQueryTerms)
	}
	var terms []term
	for _, f := range fields {
		terms = append(terms, term{text: f, short: utf8.RuneCountInString(f) < 3})
	}
	return terms, nil
}

// indexed reports whether the index knows the term.
func (t term) indexed() bool { return !t.short || indexedShort(t.text) }

// match is the term as a query of the index.
func (t term) match() string {
	if t.short {
		return quoted(t.text)
	}
	runes := []rune(t.text)
	n := len(runes) - 2
	var all []string
	for i := range min(n, trigramsOfTerm) {
		at := i * n / min(n, trigramsOfTerm)
		all = append(all, quoted(string(runes[at:at+3])))
	}
	return strings.Join(all, " AND ")
}

// quoted is a string of the index's query language.
func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// find returns where the term first stands in a plain text.
func (t term) find(s string) (start int, found bool) {
	if !t.short {
		start = strings.Index(s, t.text)
		return start, start >= 0
	}
	eachGram(s, func(i int, gram string, short bool) bool {
		start, found = i, short && gram == t.text
		return !found
	})
	return start, found
}

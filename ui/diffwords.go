package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/countersign-dev/countersign/ui/visible"
)

// maxEqual is how much of an equal stretch of a long line is shown, in bytes:
// what differs must be seen first.
const maxEqual = 400

// piece is a part of a line: as it is in the other line, or not.
type piece struct {
	text    string
	changed bool
}

// compareWords makes two lines visible, with the words marked that differ.
// Where nearly all of them do, nothing is marked.
func compareWords(before, after string) (old, now []visible.Span) {
	head := commonHead(before, after)
	tail := commonTail(before[head:], after[head:])
	a, b := before[head:len(before)-tail], after[head:len(after)-tail]
	left, right, alike := wordPieces(a, b)
	if head+tail < 4 && !alike {
		return shortLine(before), shortLine(after)
	}
	first, last := piece{text: before[:head]}, piece{text: before[len(before)-tail:]}
	return piecesShown(first, left, last), piecesShown(first, right, last)
}

// wordPieces compares two texts word by word, the long ones as a whole. alike
// is false where less than a quarter of the words is the same.
func wordPieces(a, b string) (left, right []piece, alike bool) {
	if len(a)+len(b) > maxWordLine {
		return []piece{{a, true}}, []piece{{b, true}}, false
	}
	x, y := words(a), words(b)
	if len(x) <= 1 && len(y) <= 1 {
		return []piece{{a, true}}, []piece{{b, true}}, false
	}
	at, same := 0, 0
	for _, d := range append(lcs.DiffLines(x, y), lcs.Diff{Start: len(x), End: len(x)}) {
		equal := piece{text: strings.Join(x[at:d.Start], "")}
		same += d.Start - at
		left = append(left, equal, piece{strings.Join(x[d.Start:d.End], ""), true})
		right = append(right, equal, piece{strings.Join(y[d.ReplStart:d.ReplEnd], ""), true})
		at = d.End
	}
	return left, right, 8*same >= len(x)+len(y)
}

// words splits a text at the ends of words, so that no combining mark is parted
// from what it stands on.
func words(s string) []string {
	var out []string
	start, kind := 0, -1
	for i, r := range s {
		k := wordKind(r)
		if unicode.Is(unicode.M, r) && i > 0 {
			continue
		}
		if i > start && (k != kind || k == 0) {
			out = append(out, s[start:i])
			start = i
		}
		kind = k
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// wordKind is 1 for what words are made of, 2 for space, 0 for what stands alone.
func wordKind(r rune) int {
	switch {
	case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
		return 1
	case unicode.IsSpace(r):
		return 2
	default:
		return 0
	}
}

// piecesShown makes the pieces of a line visible.
func piecesShown(first piece, pieces []piece, last piece) []visible.Span {
	var out []visible.Span
	for _, p := range append(append([]piece{first}, pieces...), last) {
		budget := maxEqual
		if p.changed {
			budget = lineBudget
		}
		t := visible.Show([]byte(p.text), budget/2, budget/2)
		out = append(out, classed(t.Head, p.changed)...)
		if !t.Whole() {
			out = append(append(out, gap(t.Left)), classed(t.Tail, p.changed)...)
		}
	}
	return out
}

func classed(spans []visible.Span, changed bool) []visible.Span {
	for i := range spans {
		if changed && spans[i].Kind == "" {
			spans[i].Class = "w"
		}
	}
	return spans
}

// commonHead is how many bytes two texts begin with alike, up to the beginning
// of a word.
func commonHead(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (inside(a, n) || inside(b, n)) {
		n--
	}
	return n
}

// commonTail is how many bytes two texts end with alike, from the end of a word.
func commonTail(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && (inside(a, len(a)-n) || inside(b, len(b)-n)) {
		n--
	}
	return n
}

// inside reports whether a place is within a word or a character with its marks.
func inside(s string, at int) bool {
	if at <= 0 || at >= len(s) {
		return false
	}
	if !utf8.RuneStart(s[at]) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	next, _ := utf8.DecodeRuneInString(s[at:])
	return unicode.Is(unicode.M, next) || wordKind(before) == 1 && wordKind(next) == 1
}

package ui

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/countersign-dev/countersign/ui/visible"
)

// The bounds of a comparison. The search for the longest common part is bounded
// by its library, so the time is that of reading both texts.
const (
	maxCompared = 2 << 20  // bytes of both texts
	diffBudget  = 40 << 10 // bytes of HTML of one comparison's lines
	lineBudget  = 6 << 10  // bytes of HTML of one line
	diffContext = 3        // equal lines shown beside changed ones
	maxWordLine = 8 << 10  // bytes of a line that is compared word by word
)

// diffLine is a line of a comparison: "-" only before, "+" only after, " " in
// both, and "…" in place of Skipped equal lines. Of several empty lines in a row
// one says how many there are.
type diffLine struct {
	Sign    string
	Spans   []visible.Span
	Skipped int
	Empty   int // lines that this one stands for; 0: it is itself
}

// diff is a comparison of two texts, line by line.
type diff struct {
	Lines          []diffLine
	Added, Removed int
	Left           int // lines that are not shown here, added and removed ones
}

// edit is a stretch of a comparison: the lines that are equal, or those that
// are replaced.
type edit struct {
	same          []string
	before, after []string
}

// compareLines compares two texts, line by line.
func compareLines(before, after []string) diff {
	w := &diffWriter{budget: diffBudget}
	stretches := edits(before, after)
	for i, e := range stretches {
		if len(e.same) > 0 && w.full() {
			w.Left += len(e.same)
			continue
		}
		if len(e.same) > 0 {
			w.equal(e.same, i == 0, i == len(stretches)-1)
			continue
		}
		w.replaced(e.before, e.after)
	}
	return w.diff
}

// countLines counts the lines that two texts do not have alike.
func countLines(before, after []string) (d diff) {
	for _, e := range lcs.DiffLines(before, after) {
		d.Removed += e.End - e.Start
		d.Added += e.ReplEnd - e.ReplStart
	}
	return d
}

// edits splits two lists of lines into equal and replaced stretches.
func edits(a, b []string) []edit {
	var out []edit
	at := 0
	for _, d := range lcs.DiffLines(a, b) {
		if d.Start > at {
			out = append(out, edit{same: a[at:d.Start]})
		}
		out = append(out, edit{before: a[d.Start:d.End], after: b[d.ReplStart:d.ReplEnd]})
		at = d.End
	}
	if at < len(a) {
		out = append(out, edit{same: a[at:]})
	}
	return out
}

// diffWriter makes lines until its budget is used up; then it counts.
type diffWriter struct {
	diff

	budget int
}

// equal writes a stretch that both texts have: whole where it is short, else
// its ends, with how many lines are between.
func (w *diffWriter) equal(lines []string, first, last bool) {
	head, tail := diffContext, diffContext
	if first {
		head = 0
	}
	if last {
		tail = 0
	}
	if len(lines) <= head+tail+2 {
		head, tail = len(lines), 0
	}
	for _, s := range lines[:head] {
		w.line(" ", shortLine(s))
	}
	if skipped := len(lines) - head - tail; skipped > 0 {
		w.add(diffLine{Sign: "…", Skipped: skipped}, 40)
	}
	for _, s := range lines[len(lines)-tail:] {
		w.line(" ", shortLine(s))
	}
}

// replaced writes what one text has and what the other has in its place, with
// the words marked that differ where both have as many lines.
func (w *diffWriter) replaced(before, after []string) {
	w.Removed += len(before)
	w.Added += len(after)
	marked := map[int][]visible.Span{} // the lines after, as far as those before were written
	w.side("-", before, func(i int) []visible.Span {
		if len(before) != len(after) {
			return shortLine(before[i])
		}
		old, now := compareWords(before[i], after[i])
		marked[i] = now
		return old
	})
	w.side("+", after, func(i int) []visible.Span {
		if spans, ok := marked[i]; ok {
			return spans
		}
		return shortLine(after[i])
	})
}

// side writes what one text has, each line as show shows it. Many empty lines in
// a row are one, so that they push nothing out of sight.
func (w *diffWriter) side(sign string, lines []string, show func(i int) []visible.Span) {
	for i := 0; i < len(lines); {
		if w.full() {
			w.Left += len(lines) - i
			return
		}
		n := emptyLines(lines[i:])
		if n < manyEmpty {
			w.line(sign, show(i))
			i++
			continue
		}
		w.add(diffLine{Sign: sign, Empty: n}, 80)
		i += n
	}
}

// manyEmpty is how many empty lines in a row are written as one.
const manyEmpty = 8

// emptyLines counts the lines at the beginning that hold nothing but white space.
func emptyLines(lines []string) int {
	n := slices.IndexFunc(lines, func(s string) bool { return strings.Trim(s, " \t\r") != "" })
	if n < 0 {
		return len(lines)
	}
	return n
}

// full reports whether no more lines are written.
func (w *diffWriter) full() bool { return w.budget < 0 }

func (w *diffWriter) line(sign string, spans []visible.Span) {
	w.add(diffLine{Sign: sign, Spans: spans}, visible.Cost(spans)+40)
}

func (w *diffWriter) add(l diffLine, cost int) {
	if w.budget -= cost; w.budget < 0 && len(w.Lines) > 0 {
		w.Left += max(1, l.Skipped, l.Empty)
		return
	}
	w.Lines = append(w.Lines, l)
}

// shortLine makes a line visible; a very long one as beginning and end.
func shortLine(s string) []visible.Span {
	t := visible.Show([]byte(s), lineBudget/2, lineBudget/4)
	if t.Whole() {
		return t.Head
	}
	return append(append(t.Head, gap(t.Left)), t.Tail...)
}

// gap stands where bytes of a line are not shown.
func gap(n int) visible.Span {
	return visible.Span{Text: "[" + bytesOf(n) + " not shown here]", Count: 1, Class: "gap"}
}

// linesOf splits a text; an end of the last line adds none.
func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

package visible

import (
	"bytes"
	"unicode/utf8"
)

// Show makes a text visible within about head and tail bytes of HTML: all of it
// where it fits in their sum, else its beginning and its end. What is left out
// is counted, never silent.
func Show(b []byte, head, tail int) Text {
	t := Part(b, head+tail)
	t.Lines, t.Report = lines(b), count(b)
	if t.Whole() {
		t.Head = numbered(t.Head, 1, t.Lines)
		return t
	}
	// Cut by position, so that both parts are whole code points.
	front := b[:fit(b, head)]
	back := b[len(b)-fitEnd(b[len(front):], tail):]
	t.Head = numbered(spans(front), 1, t.Lines)
	t.Tail = numbered(spans(back), 1+bytes.Count(b[:len(b)-len(back)], []byte("\n")), t.Lines)
	t.Left = len(b) - len(front) - len(back)
	return t
}

// Part makes the beginning of a text visible, as much as takes about budget
// bytes of HTML. It looks at no more than that, and counts nothing.
func Part(b []byte, budget int) Text {
	front := b[:fit(b, budget)]
	return Text{Bytes: len(b), Head: spans(front), Left: len(b) - len(front)}
}

// count reports on a text without making it visible.
func count(b []byte) Report {
	r := Report{Runs: runs(string(b))}
	walk(b, func(_, _ int, _ rune, kind Kind) bool {
		if kind != "" {
			r.Hidden++
		}
		if kind == Direction {
			r.Directions++
		}
		return true
	})
	return r
}

// Line makes a text visible in one line of at most limit code points, where a
// long run of white space counts as few: line feeds and tabs are marks too, and a
// cut says at the end how much is left out.
func Line(s string, limit int) []Span {
	const runTakes = 12 // code points of a line
	var out []Span
	for s != "" && limit > 0 {
		start, run := nextRun(s, utf8.UTFMax*limit, plainUnit)
		n := beginning(s[:start], limit)
		out = append(out, inLine(s[:n])...)
		limit -= utf8.RuneCountInString(s[:n])
		if n < start || limit <= 0 {
			s = s[n:]
			break
		}
		if run.bytes > 0 {
			out = append(out, runSpan(s[start:start+run.bytes], run))
			limit -= runTakes
		}
		s = s[start+run.bytes:]
	}
	if s != "" {
		out = append(out, CutOff(len(s)))
	}
	return out
}

// beginning is how many bytes the first so many code points of s take.
func beginning(s string, most int) int {
	for i := range s {
		if most--; most < 0 {
			return i
		}
	}
	return len(s)
}

func inLine(s string) []Span {
	var out []Span
	for _, span := range bare([]byte(s)) {
		if span.Kind != "" {
			out = append(out, span)
			continue
		}
		out = append(out, oneLine(span.Text)...)
	}
	return out
}

func oneLine(s string) []Span {
	var out []Span
	start := 0
	for i, r := range s {
		if r != '\n' && r != '\t' {
			continue
		}
		if i > start {
			out = append(out, Span{Text: s[start:i], Count: 1})
		}
		start = i + 1
		out = push(out, Span{Text: map[rune]string{'\n': "↵", '\t': "⇥"}[r], Kind: Break, Count: 1, raw: string(r)})
	}
	if start < len(s) {
		out = append(out, Span{Text: s[start:], Count: 1})
	}
	return out
}

// What a browser has to be sent for a span besides its text.
const (
	hiddenCost = 54 // the element around the name of a hidden code point, and the name
	classCost  = 24 // the element around a coloured piece
)

// Cost is about how many bytes of HTML spans become.
func Cost(spans []Span) int { return cost(spans) }

func cost(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += escapedLen(s.Text)
		if s.Kind != "" {
			n += hiddenCost
		}
		if s.Class != "" {
			n += classCost
		}
	}
	return n
}

func escapedLen(s string) int {
	n := len(s)
	for i := range len(s) {
		if escaped(rune(s[i])) {
			n += 4
		}
	}
	return n
}

func escaped(r rune) bool { return r == '"' || r == '\'' || r == '&' || r == '<' || r == '>' }

// fit returns how many bytes of the beginning of b cost about budget. A code
// point that repeats costs nothing where its name is written once.
func fit(b []byte, budget int) int {
	end, last, blanks := 0, "", 0
	walk(b, func(at, n int, r rune, kind Kind) bool {
		if budget <= 0 {
			return false
		}
		if end = at + n; r == ' ' || r == '\n' || r == '\t' {
			blanks++
		} else {
			blanks = 0
		}
		switch raw := string(b[at:end]); {
		case blanks > longBlank: // of a run, which is written as its length
		case kind == "":
			budget -= plainCost(r, n)
			last = ""
		case raw != last:
			budget -= hiddenCost
			last = raw
		}
		return true
	})
	return end
}

// fitEnd returns how many bytes of the end of b cost about budget.
func fitEnd(b []byte, budget int) int {
	i := len(b)
	for i > 0 && budget > 0 {
		r, n := utf8.DecodeLastRune(b[:i])
		if r == utf8.RuneError && n == 1 || hidden(r) != "" {
			budget -= hiddenCost
		} else {
			budget -= plainCost(r, n)
		}
		i -= n
	}
	return len(b) - i
}

func plainCost(r rune, n int) int {
	if escaped(r) {
		return 5
	}
	return n
}

func lines(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	n := bytes.Count(b, []byte("\n"))
	if b[len(b)-1] != '\n' {
		n++
	}
	return n
}

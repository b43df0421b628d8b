package generate

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// text is what models, tools and people write: a long text of made-up lines,
// of which everything takes a part.
type text struct {
	verbs, nouns, plain []string

	body  []byte
	lines []int // where each line of body begins
}

// bodyBytes is how long the text is: the longest result and some more.
const bodyBytes = 3 << 20

// size is a number of bytes that is often near the median and sometimes many
// times it (log-normal), at most most.
func (d dice) size(median, spread float64, most int) int {
	return int(min(max(median*math.Exp(spread*d.NormFloat64()), 8), float64(most)))
}

func newText(d dice) *text {
	t := &text{verbs: strings.Fields(verbs), nouns: strings.Fields(nouns), plain: strings.Fields(plainWords)}
	for len(t.body) < bodyBytes {
		t.lines = append(t.lines, len(t.body))
		t.body = append(t.line(d, t.body), '\n')
	}
	return t
}

// some is a part of the text, about n bytes of whole lines; it is not to be
// changed.
func (t *text) some(d dice, n int) []byte {
	from := t.lines[d.IntN(len(t.lines))]
	if from+n >= len(t.body) {
		from = 0
	}
	end := from + n
	if i := bytes.IndexByte(t.body[end:], '\n'); i >= 0 && i < n {
		return t.body[from : end+i : end+i]
	}
	for end > from && t.body[end]&0xC0 == 0x80 { // on a character's edge
		end--
	}
	return t.body[from:end:end]
}

// line appends one line: code, a log's, or prose.
func (t *text) line(d dice, b []byte) []byte {
	switch n := d.IntN(100); {
	case n < 22:
		return fmt.Appendf(b, "\t%s := %s(ctx, %q, %d)", t.identifier(d), t.identifier(d), t.noun(d), d.IntN(5000))
	case n < 38:
		return fmt.Appendf(b, "\tif err := %s.%s(%s); err != nil {", t.noun(d), title(t.verb(d)), t.identifier(d))
	case n < 50:
		return fmt.Appendf(b, "time=2026-%02d-%02dT%02d:%02d:%02d level=%s msg=\"%s %s\" %s=%d", d.between(1, 12), d.between(1, 28), d.IntN(24), d.IntN(60), d.IntN(60),
			pick(d, []string{"INFO", "INFO", "WARN", "ERROR"}), t.verb(d), t.noun(d), t.snake(d), d.IntN(1e6))
	case n < 58:
		return fmt.Appendf(b, "%s:%d: %s %s", t.path(d), 1+d.IntN(900), t.identifier(d), t.word(d))
	case n < 62:
		return fmt.Appendf(b, "ok  \tgithub.example/%s/%s\t%d.%03ds", t.folder(d), t.noun(d), d.IntN(30), d.IntN(1000))
	case n < 66:
		return fmt.Appendf(b, "{%q: %d, %q: %q, \"id\": \"%08x\"}", t.snake(d), d.IntN(1e4), t.snake(d), t.word(d), d.Uint32())
	case n < 68:
		return append(b, pick(d, abroad())...)
	}
	return t.sentence(d, b)
}

func (t *text) sentence(d dice, b []byte) []byte {
	start := len(b)
	for i := range d.between(5, 14) {
		if i > 0 {
			b = append(b, ' ')
		}
		if d.chance(0.12) {
			b = append(b, t.identifier(d)...)
		} else {
			b = append(b, t.word(d)...)
		}
	}
	if c := b[start]; c >= 'a' && c <= 'z' {
		b[start] = c - 'a' + 'A'
	}
	if d.chance(0.04) {
		return append(b, pick(d, emoji())...)
	}
	return append(b, '.')
}

func (t *text) verb(d dice) string { return pick(d, t.verbs) }
func (t *text) noun(d dice) string { return pick(d, t.nouns) }

// word is a plain word, a noun or a verb.
func (t *text) word(d dice) string {
	switch d.IntN(5) {
	case 0:
		return t.noun(d)
	case 1:
		return t.verb(d)
	}
	return pick(d, t.plain)
}

// identifier is a name as code has it.
func (t *text) identifier(d dice) string {
	if d.chance(0.3) {
		return t.snake(d)
	}
	return t.verb(d) + title(t.noun(d))
}

func (t *text) snake(d dice) string  { return t.noun(d) + "_" + t.noun(d) }
func (t *text) folder(d dice) string { return t.noun(d) }

func (t *text) path(d dice) string {
	return t.folder(d) + "/" + t.noun(d) + "/" + t.snake(d) + pick(d, []string{".go", ".go", ".ts", ".sql", ".yaml", ".md", "_test.go"})
}

// title is a short line.
func (t *text) title(d dice) string {
	return title(t.verb(d)) + " " + t.noun(d) + " " + pick(d, t.plain) + " " + t.noun(d)
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

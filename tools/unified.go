package tools

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

const (
	diffContext = 3       // equal lines shown around a change
	maxCompared = 2 << 20 // bytes of both texts
)

// unified writes the difference of two texts as `diff -u` does, so that patch
// makes the one of the other. A name of "" is a file that does not exist. It is
// nil where the texts are equal.
func unified(oldName, newName string, before, after []byte) []byte {
	a, b := diffLines(before), diffLines(after)
	var out bytes.Buffer
	for _, h := range hunks(lcs.DiffLines(a, b)) {
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", diffName("a/", oldName), diffName("b/", newName))
		}
		h.write(&out, a, b)
	}
	return out.Bytes()
}

// diffName is a name as a diff shows it: quoted where it has what could end the
// line.
func diffName(side, name string) string {
	if name == "" {
		return "/dev/null"
	}
	if strings.IndexFunc(name, func(r rune) bool { return !strconv.IsPrint(r) || r == '"' || r == '\\' }) >= 0 {
		return strconv.QuoteToASCII(side + name)
	}
	return side + name
}

// isText reports whether bytes can be shown as the lines of a diff.
func isText(b []byte) bool { return utf8.Valid(b) && !bytes.ContainsRune(b, 0) }

// diffLines splits a text after each line feed.
func diffLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// hunk is a run of changes with what is equal around and between them.
type hunk []lcs.Diff

// hunks joins changes whose surroundings touch.
func hunks(changes []lcs.Diff) (all []hunk) {
	for _, c := range changes {
		last := len(all) - 1
		if last >= 0 && c.Start-all[last][len(all[last])-1].End <= 2*diffContext {
			all[last] = append(all[last], c)
			continue
		}
		all = append(all, hunk{c})
	}
	return all
}

func (h hunk) write(out *bytes.Buffer, a, b []string) {
	first, last := h[0], h[len(h)-1]
	before := min(diffContext, first.Start)
	after := min(diffContext, len(a)-last.End)
	fmt.Fprintf(out, "@@ -%s +%s @@\n",
		extent(first.Start-before, last.End+after), extent(first.ReplStart-before, last.ReplEnd+after))
	at := first.Start - before
	for _, c := range h {
		writeLines(out, ' ', a[at:c.Start])
		writeLines(out, '-', a[c.Start:c.End])
		writeLines(out, '+', b[c.ReplStart:c.ReplEnd])
		at = c.End
	}
	writeLines(out, ' ', a[at:last.End+after])
}

// extent is the first line, counted from 1, and how many; of none, the line
// before.
func extent(start, end int) string {
	switch n := end - start; n {
	case 0:
		return strconv.Itoa(start) + ",0"
	case 1:
		return strconv.Itoa(start + 1)
	default:
		return fmt.Sprintf("%d,%d", start+1, n)
	}
}

func writeLines(out *bytes.Buffer, sign byte, lines []string) {
	for _, line := range lines {
		out.WriteByte(sign)
		out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

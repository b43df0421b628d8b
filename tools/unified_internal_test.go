package tools

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestUnified(t *testing.T) {
	const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, c := range []struct{ name, old, path, before, after, want string }{
		{"equal", "f", "f", "a\n", "a\n", ""},
		{"a new file", "", "f", "", "a\nb\n", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "f", "f", "a\n", "", "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n"},
		{"in the middle", "f", "f", ten, strings.Replace(ten, "5\n", "five\n", 1), "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"at both ends", "f", "f", ten, "0\n" + ten + "11\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -8,3 +9,4 @@\n 8\n 9\n 10\n+11\n"},
		{"no line feed at the end", "f", "f", "a\nb", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"carriage returns", "f", "f", "a\r\n", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\r\n+a\n"},
		{"a name that would end the line", "f\n+x", "f\n+x", "", "a\n", "--- \"a/f\\n+x\"\n+++ \"b/f\\n+x\"\n@@ -0,0 +1 @@\n+a\n"},
		{"a name that turns", "a\u202eb", "a\u202eb", "", "a\n", "--- \"a/a\\u202eb\"\n+++ \"b/a\\u202eb\"\n@@ -0,0 +1 @@\n+a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, string(unified(c.old, c.path, []byte(c.before), []byte(c.after))))
		})
	}
}

// What a reviewer sees is all of the change: patched with it, the one text is the
// other.
func TestADiffIsTheWholeChange(t *testing.T) {
	lines := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "-x\n", "+x\n", "@@ -1 +1 @@\n", "--- a/f\n", "\\ No newline at end of file\n", "d\r\n"})
	end := rapid.SampledFrom([]string{"", "", "a", "-", "é"})
	rapid.Check(t, func(r *rapid.T) {
		text := func(name string) string {
			return strings.Join(rapid.SliceOfN(lines, 0, 30).Draw(r, name), "") + end.Draw(r, name+" end")
		}
		before, after := text("before"), text("after")
		patched, err := patch(before, string(unified("f", "f", []byte(before), []byte(after))))
		if err != nil || patched != after {
			r.Fatalf("%q patched is %q, want %q: %v", before, patched, after, err)
		}
	})
}

// patch applies a unified diff, strictly.
func patch(text, diff string) (string, error) {
	if diff == "" {
		return text, nil
	}
	_, diff, _ = strings.Cut(diff, "\n")
	_, diff, _ = strings.Cut(diff, "\n")
	lines, out := diffLines([]byte(text)), ""
	at := 0
	for diff != "" {
		head, rest, _ := strings.Cut(diff, "\n")
		first, a, b, err := extents(head)
		if err != nil {
			return "", err
		}
		for ; at < first; at++ {
			out += lines[at]
		}
		diff = rest
		for a > 0 || b > 0 {
			line, rest, _ := strings.Cut(diff[1:], "\n")
			sign := diff[0]
			if diff = rest; !strings.HasPrefix(diff, "\\ No newline at end of file\n") {
				line += "\n"
			} else {
				_, diff, _ = strings.Cut(diff, "\n")
			}
			if sign != '+' {
				if a--; at >= len(lines) || lines[at] != line {
					return "", fmt.Errorf("line %d is not %q", at+1, line)
				}
				at++
			}
			if sign != '-' {
				b--
				out += line
			}
		}
	}
	return out + strings.Join(lines[at:], ""), nil
}

// extents reads "@@ -A,N +B,M @@".
func extents(head string) (first, a, b int, err error) {
	fields := strings.Fields(head)
	if len(fields) != 4 || fields[0] != "@@" {
		return 0, 0, 0, fmt.Errorf("no hunk: %q", head)
	}
	read := func(s string) (at, n int) {
		start, count, many := strings.Cut(s[1:], ",")
		at, err = strconv.Atoi(start)
		if n = 1; many {
			n, err = strconv.Atoi(count)
		}
		if n > 0 {
			at--
		}
		return at, n
	}
	first, a = read(fields[1])
	_, b = read(fields[2])
	return first, a, b, err
}

package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/ui/visible"
)

// written puts a comparison into text: words that are marked stand in ⟨⟩.
func written(d diff) string {
	var b strings.Builder
	for _, l := range d.Lines {
		if l.Skipped > 0 {
			fmt.Fprintf(&b, "… %d\n", l.Skipped)
			continue
		}
		b.WriteString(l.Sign + " ")
		for _, s := range l.Spans {
			if s.Class == "w" {
				b.WriteString("⟨" + s.Label() + "⟩")
				continue
			}
			b.WriteString(s.Label())
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestLinesAreComparedWordByWord(t *testing.T) {
	long := strings.Repeat("same\n", 20)
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":       {"a\nb", "a\nb", "  a\n  b\n"},
		"a word":        {"limit: 500", "limit: 5000", "- limit: ⟨500⟩\n+ limit: ⟨5000⟩\n"},
		"a line more":   {"a", "a\nb", "  a\n+ b\n"},
		"a line less":   {"a\nb", "b", "- a\n  b\n"},
		"another text":  {"one", "two", "- one\n+ two\n"},
		"a hidden sign": {"rm a", "rm a\u202e", "- rm a\n+ rm aU+202E\n"},
		"marks stay":    {"e\u0301 x", "e\u0301 y", "- e\u0301 ⟨x⟩\n+ e\u0301 ⟨y⟩\n"},
		"long equals":   {long + "limit 1", long + "limit 2", "… 17\n  same\n  same\n  same\n- limit ⟨1⟩\n+ limit ⟨2⟩\n"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, written(compareLines(linesOf(c.before), linesOf(c.after))))
		})
	}
}

func TestArgumentsAreComparedByMemberAndByLine(t *testing.T) {
	for name, c := range map[string]struct{ before, after, pointers, main, texts string }{
		"a value": {`{"path":"a","n":1}`, `{"path":"b","n":1}`, "changed /path", "  {\n-   \"path\": \"⟨a⟩\",\n+   \"path\": \"⟨b⟩\",\n    \"n\": 1\n  }\n", ""},
		"added and removed": {
			`{"a":{"x/y":1}}`, `{"a":{"z~":[1]}}`, "removed /a/x~1y, added /a/z~0",
			"  {\n    \"a\": {\n-     \"x/y\": 1\n+     \"z~\": [\n+       1\n+     ]\n    }\n  }\n", "",
		},
		"an element": {`{"a":[1,2]}`, `{"a":[1,3,4]}`, "changed /a/1, added /a/2", "", ""},
		"a file": {
			`{"path":"a","content":"one\ntwo\n"}`, `{"path":"a","content":"one\nthree\n"}`, "changed /content",
			"… 4\n", "content:   one\n- two\n+ three\n",
		},
		"a type":  {`{"a":1}`, `{"a":"1"}`, "changed /a", "", ""},
		"digits":  {`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, "changed /a", "", ""},
		"no JSON": {`{"a":`, `{"a":1}`, "", "- {\"a\":\n+ {\n+   \"a\": 1\n+ }\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := compare([]byte(c.before), []byte(c.after))
			require.False(t, v.Same)
			var pointers []string
			for _, m := range v.Members {
				pointers = append(pointers, m.Word+" "+string(visible.Bytes(m.Pointer)))
			}
			require.Equal(t, c.pointers, strings.Join(pointers, ", "))
			if c.main != "" {
				require.Equal(t, c.main, written(v.Main))
			}
			texts := ""
			for _, d := range v.Texts {
				texts += d.Name + ": " + written(d.diff)
			}
			require.Equal(t, c.texts, texts)
		})
	}
}

func TestTheSameMeaningIsTheSame(t *testing.T) {
	for _, c := range []struct {
		before, after string
		written       bool
	}{
		{`{"a":1}`, `{"a":1}`, false}, {`{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`, true}, {`{"a":"\u0041"}`, `{"a":"A"}`, true}, {`null`, `{}`, true},
	} {
		v := compare([]byte(c.before), []byte(c.after))
		require.True(t, v.Same, c.before)
		require.Equal(t, c.written, v.Written, c.before)
	}
	require.False(t, compare([]byte(`{"a":1}`), []byte(`{"a":1.0}`)).Same, "digits are as they are written")
}

// Whatever the texts, a comparison is small, soon made, and nothing is left
// out in silence.
func TestAComparisonIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%d\n", random.IntN(50))
		}
		return b.String()
	}
	for name, c := range map[string][2]string{
		"lines that share little": {noise(40_000), noise(40_000)},
		"one long line":           {strings.Repeat("x", 500_000), strings.Repeat("x", 250_000) + "y" + strings.Repeat("x", 249_999)},
		"long lines, all new":     {strings.Repeat("a ", 200_000), strings.Repeat("b ", 200_000)},
		"controls":                {strings.Repeat("\x00\u202e", 50_000), strings.Repeat("\u202e\x00", 50_000)},
		"line feeds":              {strings.Repeat("\n", 500_000), strings.Repeat("\n", 400_000)},
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			d := compareLines(linesOf(c[0]), linesOf(c[1]))
			require.Less(t, time.Since(begin), time.Minute)
			cost, shown := 0, 0
			for _, l := range d.Lines {
				cost += visible.Cost(l.Spans)
				if l.Sign == "+" || l.Sign == "-" {
					shown += max(1, l.Empty)
				}
			}
			require.Less(t, cost, 3*diffBudget)
			require.GreaterOrEqual(t, shown+d.Left, d.Added+d.Removed, "what is not shown is counted")
		})
	}
	require.True(t, compare([]byte(strings.Repeat("a", maxCompared)), []byte("b")).Long)
}

// Empty lines do not push what is changed out of sight.
func TestManyEmptyLinesOfAComparisonAreOne(t *testing.T) {
	d := compareLines(linesOf("ls"), linesOf("ls"+strings.Repeat("\n \t", 3000)+"\nrm -rf /"))
	require.Equal(t, 3001, d.Added)
	require.Len(t, d.Lines, 3, "the equal line, the empty ones, and the command")
	require.Equal(t, 3000, d.Lines[1].Empty)
	require.Equal(t, "rm -rf /", labels(d.Lines[2].Spans))
	few := compareLines(linesOf("ls"), linesOf("ls\n\n\n\nx"))
	require.Len(t, few.Lines, 5, "some are as they are")
}

func TestSummariesSayWhatACallDoes(t *testing.T) {
	for in, want := range map[string]string{
		`{"path":"a.txt","content":"x\ny\n"}`:                   "a.txt · 2 lines, 4 bytes",
		`{"content":"","path":"a.txt"}`:                         "a.txt · 0 lines, 0 bytes",
		`{"path":"a.go","old":"x\ny","new":"x\nz\nw"}`:          "a.go · +2 −1 lines",
		`{"file_path":"a.go","old_string":"x","new_string":""}`: "a.go · −1 line",
		`{"command":"ls -l"}`:                                   "ls -l",
		`{"timeout_ms":5,"command":"\n\nset -e\nrm x\n"}`:       "(2 empty lines) set -e … +1 line",
		`{"body":"hello","to":"a@b","subject":"s","n":2}`:       "to: a@b · subject: s · body: hello · n: 2",
		`{"path":"a"}`:                           "a",
		`{"zone":"x","deep":{"a":1},"list":[1]}`: "zone: x · deep: {…} · list: […]",
		`{}`:                                     "{}",
		``:                                       "{}",
		" \n":                                    "{}",
		`null`:                                   "{}",
		`{"command":"ls` + blanks(4000) + `; rm -rf /"}`:        "ls· 4,000 spaces ·; rm -rf /",
		`{"command":"ls` + blanks(4000) + `\nrm -rf /"}`:        "ls· 4,000 spaces · … +1 line",
		`{"command":"` + strings.Repeat("x", 5000) + `"}`:       strings.Repeat("x", 140) + "… +4,860 bytes",
		`{"command":"` + strings.Repeat("x", 5000) + `\ny\nz"}`: strings.Repeat("x", 140) + "… +4,860 bytes … +2 lines",
		`{"a":"` + strings.Repeat("x", 500) + `","b":1,"c":2}`:  "a: " + strings.Repeat("x", 137) + "… +363 bytes … +2 arguments",
		`{"a":`: `{"a":`,
	} {
		require.Equal(t, want, labels(summaryLine([]byte(in), summaryRoom)), in)
	}
}

// labels joins spans as a page shows them.
func labels(spans []visible.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Label())
	}
	return b.String()
}

func blanks(n int) string { return strings.Repeat(" ", n) }

func TestWhyArgumentsAreNotValidInPlainWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":`:               "the text ends too early: a quote, bracket or brace is not closed",
		"{\n  \"a\": tru}":    "it is not valid JSON in line 2, column",
		`{"a":1,"a":2}`:       "a name stands twice in one object, at /a",
		`{"b":{"a":1,"a":2}}`: "a name stands twice in one object, at /b/a",
		`{a:1}`:               "it is not valid JSON in line 1, column 2",
		`["a"]`:               "they must be one JSON object",
		`{} x`:                "something follows the object",
		`{"a":1e999}`:         "has an exponent beyond 400",
		"{\"a\":\"\xff\"}":    "it is not valid UTF-8",
	} {
		v := arguments([]byte(in), "", "")
		require.Contains(t, v.Invalid, want, in)
		require.NotContains(t, v.Invalid, "jsontext", in)
	}
}

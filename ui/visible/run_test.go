package visible_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/ui/visible"
)

// White space that pushes what follows it out of sight is shown as its length;
// that of ordinary texts is not touched.
func TestLongRunsOfWhiteSpaceAreShownAsTheirLength(t *testing.T) {
	gap := strings.Repeat(" ", 400)
	for name, c := range map[string]struct {
		in, want string
		runs     int
	}{
		"spaces":             {"ls" + gap + "; rm -rf /", "ls· 400 spaces ·; rm -rf /", 1},
		"tabs":               {"ls" + strings.Repeat("\t", 10) + "x", "ls· 10 tabs ·x", 1},
		"line feeds":         {"ls" + strings.Repeat("\n", 1000) + "rm", "ls· 1,000 line feeds; line 1,001 of 1,001 follows ·rm", 1},
		"at the end":         {"ls" + strings.Repeat("\n", 9), "ls· 9 line feeds ·", 1},
		"of Windows":         {"ls" + strings.Repeat("\r\n", 9) + "rm", "ls· 9 line feeds, 9 carriage returns; line 10 of 10 follows ·rm", 1},
		"blank lines":        {"ls" + strings.Repeat("\n \t", 20) + "\n  rm", "ls· 21 line feeds, 20 spaces, 20 tabs; line 22 of 22 follows ·  rm", 1},
		"wide lines":         {"ls" + strings.Repeat(gap+"\n", 3) + "rm", "ls· 3 line feeds, 1,200 spaces; line 4 of 4 follows ·rm", 1},
		"after a line":       {"ls\n" + gap + "rm", "ls\n· 400 spaces ·rm", 1},
		"twice":              {"a" + gap + "b" + gap + "c", "a· 400 spaces ·b· 400 spaces ·c", 2},
		"indentation":        {"a:\n" + strings.Repeat(" ", 36) + "b", "a:\n" + strings.Repeat(" ", 36) + "b", 0},
		"some blank lines":   {"a\n\n\n\n\nb", "a\n\n\n\n\nb", 0},
		"the chip's words":   {"· 400 spaces ·", "· 400 spaces ·", 0},
		"with hidden spaces": {"a" + gap + "\u00a0" + gap + "b", "a· 400 spaces ·U+00A0· 400 spaces ·b", 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := visible.Show([]byte(c.in), 10_000, 0)
			require.Equal(t, c.want, plain(got.Head))
			require.Equal(t, c.runs, got.Runs)
			require.Equal(t, c.in, string(visible.Bytes(got.Head)))
			require.Equal(t, len(c.in), visible.Size(got.Head))
		})
	}
}

// Inside a JSON string white space may be escaped; our own indentation is none.
func TestRunsInJSONStrings(t *testing.T) {
	for in, want := range map[string]string{
		`"` + "ls" + strings.Repeat(`\n`, 1000) + `rm"`:           `"ls· 1,000 line feeds ·rm"`,
		`"` + "ls" + strings.Repeat(`\u0020 `, 30) + `rm"`:        `"ls· 60 spaces ·rm"`,
		`"` + strings.Repeat(`\\n`, 20) + `"`:                     `"` + strings.Repeat(`\\n`, 20) + `"`,
		strings.Repeat("[", 30) + "1" + strings.Repeat("]", 30):   "",
		`{"a":1,` + strings.Repeat(" ", 300) + `"` + "b" + `":2}`: "",
	} {
		got, err := visible.JSON([]byte(in), 100_000)
		require.NoError(t, err)
		if want == "" {
			require.Zero(t, got.Runs, "our own layout is no run: %s", in)
			continue
		}
		require.Equal(t, want, plain(got.Head))
		require.Equal(t, in, string(visible.Bytes(got.Head)))
	}
}

// Space does not use up a line, and a cut says how much it leaves out.
func TestLinesSayWhatTheyLeaveOut(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"fits":        {"whole", "whole"},
		"spaces":      {"ls" + strings.Repeat(" ", 4000) + "; rm -rf /", "ls· 4,000 spaces ·; rm -rf /"},
		"line feeds":  {"ls" + strings.Repeat("\n", 4000) + "rm", "ls· 4,000 line feeds ·rm"},
		"a few lines": {"a\n\nb", "a↵ ×2b"},
		"cut":         {strings.Repeat("x", 30) + strings.Repeat("é", 1000), strings.Repeat("x", 30) + "… +2,000 bytes"},
		"cut by one":  {strings.Repeat("x", 31), strings.Repeat("x", 30) + "… +1 byte"},
		"many runs":   {strings.Repeat("a"+strings.Repeat(" ", 50), 9), "a· 50 spaces ·a· 50 spaces ·a· 50 spaces ·… +306 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := visible.Line(c.in, 30)
			require.Equal(t, c.want, plain(got))
			require.Equal(t, len(c.in), visible.Size(got))
		})
	}
}

// What is written as its length takes little of a page's room.
func TestARunDoesNotUseUpTheRoomOfAText(t *testing.T) {
	in := "ls" + strings.Repeat(" ", 200_000) + "; rm -rf /"
	got := visible.Show([]byte(in), 2000, 0)
	require.True(t, got.Whole())
	require.Equal(t, "ls· 200,000 spaces ·; rm -rf /", plain(got.Head))
}

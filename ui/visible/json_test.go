package visible_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/ui/visible"
)

// laid is what TestJSON expects.
const laid = `{
  "command": "rm \u202e\u001b[2K",
  "n": 9007199254740993,
  "ok": true,
  "list": [
    1,
    null
  ],
  "e": {}
}`

func TestJSON(t *testing.T) {
	got, err := visible.JSON([]byte(`{"command":"rm \u202e\u001b[2K","n":9007199254740993,"ok":true,"list":[1,null],"e":{}}`), 10_000)
	require.NoError(t, err)
	require.Equal(t, strings.Split(laid, "\n"), strings.Split(plain(got.Head), "\n"))
	require.Equal(t, 2, got.Hidden)
	require.Equal(t, 1, got.Directions)
	require.Contains(t, got.Head, visible.Span{Text: `"command"`, Count: 1, Class: "k"})
	require.Contains(t, got.Head, visible.Span{Text: "9007199254740993", Count: 1, Class: "n"})
}

func TestJSONThatIsNotLaidOut(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want error
	}{
		"broken":   {`{"a":1, bad}`, visible.ErrNotJSON},
		"two":      {`{} {}`, visible.ErrNotJSON},
		"nothing":  {``, visible.ErrNotJSON},
		"deep":     {strings.Repeat("[", 9000) + strings.Repeat("]", 9000), visible.ErrTooDeep},
		"unclosed": {strings.Repeat(`{"a":`, 100000), visible.ErrTooLarge},
		"large":    {`"` + strings.Repeat("x", 40000) + `"`, visible.ErrTooLarge},
		"many":     {"[" + strings.Repeat("1,", 9000) + "1]", visible.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := visible.JSON([]byte(c.in), 20_000)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestEscapesOfHiddenCodePointsAreMarked(t *testing.T) {
	for in, want := range map[string]int{
		`"\u200b"`: 1, `"\b\f"`: 2, `"\n\t\r\u000a"`: 0, `"\\u200b"`: 0, `"\ud83d\ude00"`: 0, `"\udb40\udc41"`: 1, `"\ud800"`: 1,
		`"\u0000\u0000"`: 2, `"\u0041"`: 0, `{"\u202e":1}`: 1,
	} {
		got, err := visible.JSON([]byte(in), 10_000)
		require.NoError(t, err, in)
		require.Equal(t, want, got.Hidden, in)
	}
}

func TestTypableTextMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(texts().Draw(t, "value"), "?"))
		require.NoError(t, err)
		in := []byte(`{"a":` + string(quoted) + `}`)
		typable := []byte(visible.Typable(in))
		require.Zero(t, visible.Show(typable, 1<<20, 0).Hidden)
		require.Equal(t, canonical(t, in), canonical(t, typable))
	})
}

func canonical(t require.TestingT, b []byte) string {
	v := jsontext.Value(strings.Clone(string(b)))
	require.NoError(t, v.Canonicalize())
	return string(v)
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":"\ud800\\"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := visible.JSON(b, 1<<16)
		if err != nil {
			return
		}
		require.Equal(t, strings.Map(drop, string(b)), strings.Map(drop, string(visible.Bytes(got.Head))))
	})
}

// drop removes what laying out may add or take: white space.
func drop(r rune) rune {
	if strings.ContainsRune(" \t\r\n", r) {
		return -1
	}
	return r
}

package events_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func TestArgumentsThatAreNothing(t *testing.T) {
	for _, text := range []string{"", " ", "\t\r\n ", "null", " null\n"} {
		a, err := events.DecodeArguments([]byte(text))
		require.NoError(t, err, "%q", text)
		require.Equal(t, "{}", string(a.Text), "%q", text)
		require.Equal(t, map[string]any{}, a.Value, "%q", text)
	}
	a, err := events.DecodeArguments(nil)
	require.NoError(t, err)
	require.Equal(t, "{}", string(a.Text))
}

// What the tool gets is the model's own text; what policy sees keeps every
// digit.
func TestArgumentsKeepTextAndDigits(t *testing.T) {
	for _, tc := range []struct {
		text string
		want map[string]any
	}{
		{`{}`, map[string]any{}},
		{" { }\n", map[string]any{}},
		{`{"n":9007199254740993}`, map[string]any{"n": json.Number("9007199254740993")}},
		{`{"n":1.10,"m":-0,"e":1E+400}`, map[string]any{"n": json.Number("1.10"), "m": json.Number("-0"), "e": json.Number("1E+400")}},
		{`{"a":[1,"x",null,true,false,{}],"b":{"c":[]}}`, map[string]any{
			"a": []any{json.Number("1"), "x", nil, true, false, map[string]any{}}, "b": map[string]any{"c": []any{}},
		}},
		{`{"\u0061":"\ud83d\ude00\u202e\u0000"}`, map[string]any{"a": "😀\u202e\x00"}},
		{`{"a":1,"A":2}`, map[string]any{"a": json.Number("1"), "A": json.Number("2")}},
		{`{"":""}`, map[string]any{"": ""}},
		{`{"__proto__":{"x":1}}`, map[string]any{"__proto__": map[string]any{"x": json.Number("1")}}},
	} {
		a, err := events.DecodeArguments([]byte(tc.text))
		require.NoError(t, err, tc.text)
		require.Equal(t, tc.text, string(a.Text))
		require.Equal(t, tc.want, a.Value, tc.text)
	}
}

func TestArgumentsRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"list", `[1]`, "one JSON object"},
		{"string", `"x"`, "one JSON object"},
		{"an object in a string", `"{\"a\":1}"`, "one JSON object"},
		{"number", `7`, "one JSON object"},
		{"truth", `true`, "one JSON object"},
		{"repeated name", `{"a":1,"a":2}`, "duplicate"},
		{"repeated by an escape", `{"a":1,"\u0061":2}`, "duplicate"},
		{"repeated deep inside", `{"x":[{"y":{"a":1,"a":1}}]}`, "duplicate"},
		{"something follows", `{"a":1} x`, "follows"},
		{"a second object", `{"a":1}{"a":1}`, "follows"},
		{"cut in a name", `{"a`, "EOF"},
		{"cut before a value", `{"a":`, "EOF"},
		{"cut before the end", `{"a":1`, "EOF"},
		{"cut in a list", `{"a":[1,`, "EOF"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "UTF-8"},
		{"lone surrogate", `{"a":"\ud800"}`, "surrogate"},
		{"no quotes", `{bad}`, "invalid character"},
		{"single quotes", `{'a':1}`, "invalid character"},
		{"comma at the end", `{"a":1,}`, "invalid character"},
		{"comment", `{"a":1/*x*/}`, "invalid character"},
		{"leading zero", `{"a":01}`, "invalid character"},
		{"plus", `{"a":+1}`, "invalid character"},
		{"a number beyond memory", `{"a":1e9999999}`, "exponent beyond 400"},
		{"a number beyond memory, deep inside", `{"a":[{"b":-1.5E-401}]}`, "exponent beyond 400"},
		{"an exponent beyond every integer", `{"a":1e99999999999999999999}`, "exponent beyond 400"},
		{"a number without end", `{"a":` + strings.Repeat("9", 1025) + `}`, "a number of 1025 bytes"},
		{"not a number", `{"a":NaN}`, "invalid character"},
		{"raw newline", "{\"a\":\"\n\"}", "invalid character"},
		{"byte order mark", "\ufeff{}", "invalid character"},
		{"no-break space alone", "\u00a0", "invalid character"},
		{"vertical tab alone", "\v", "invalid character"},
		{"null in upper case", "NULL", "invalid character"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := events.DecodeArguments([]byte(tc.text))
			require.ErrorIs(t, err, events.ErrArguments)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestArgumentsDepth(t *testing.T) {
	lists := func(levels int, inside string) string {
		return `{"a":` + strings.Repeat("[", levels-1) + inside + strings.Repeat("]", levels-1) + "}"
	}
	objects := func(levels int) string {
		return strings.Repeat(`{"a":`, levels-1) + `{}` + strings.Repeat("}", levels-1)
	}
	for _, text := range []string{lists(64, ""), lists(64, "1"), objects(64)} {
		_, err := events.DecodeArguments([]byte(text))
		require.NoError(t, err)
	}
	for _, text := range []string{lists(65, ""), lists(65, "1"), objects(65), lists(100_000, ""), strings.Repeat(`{"a":`, 100_000)} {
		_, err := events.DecodeArguments([]byte(text))
		require.ErrorIs(t, err, events.ErrArguments)
		require.ErrorContains(t, err, "deeper than 64 levels")
	}
}

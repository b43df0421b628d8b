package api

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBodiesAreReadStrictly(t *testing.T) {
	tests := []struct{ body, want string }{ // want: the error holds it; "" is none
		{`{}`, ""},
		{` { "text" : "a\u0000\n" , "flag" : true } ` + "\r\n\t", ""},
		{``, "ends before"},
		{`  `, "ends before"},
		{`{`, "ends before"},
		{`{"text"`, "ends before"},
		{`{"text":`, "ends before"},
		{`{"text":"a`, "ends before"},
		{`"text"`, "send a JSON object"},
		{`[{}]`, "send a JSON object"},
		{`null`, "send a JSON object"},
		{`{"text":"a"}x`, "follows"},
		{`{"text":"a"}{}`, "follows"},
		{`{"text":"a"} null`, "follows"},
		{`{"text":"a",}`, "not valid JSON"},
		{`{'text':"a"}`, "not valid JSON"},
		{`{text:"a"}`, "not valid JSON"},
		{`{"text":"a" "flag":true}`, "not valid JSON"},
		{"{\"text\":\"a\nb\"}", "not valid JSON"},
		{"{\"text\":\"\xff\"}", "not valid JSON"},
		{`{"text":"\ud800"}`, "not valid JSON"},
		{"\ufeff{}", "not valid JSON"},
		{`{/**/}`, "not valid JSON"},
		{`{"Text":"a"}`, `member "Text" is unknown: it is spelled "text"`},
		{`{"text ":"a"}`, `member "text " is unknown: the members are flag, text`},
		{`{"":"a"}`, `member "" is unknown`},
		{`{"__proto__":{"text":"a"}}`, `member "__proto__" is unknown`},
		{`{"text":"a","text":"b"}`, `member "text" is given twice`},
		{`{"text":"a","te\u0078t":"b"}`, `member "text" is given twice`},
		{`{"text":null}`, `member "text" is null: it must be a string`},
		{`{"text":1}`, `member "text" is a number: it must be a string`},
		{`{"text":{}}`, `member "text" is an object: it must be a string`},
		{`{"text":[` + strings.Repeat("[", 100_000), `is an array: it must be a string`},
		{`{"flag":"true"}`, `member "flag" is a string: it must be true or false`},
		{`{"flag":null}`, `member "flag" is null: it must be true or false`},
		{`{"flag":tru}`, "not valid JSON"},
	}
	for _, test := range tests {
		t.Run(clip(test.body), func(t *testing.T) {
			var text string
			var flag bool
			_, err := decode([]byte(test.body), members{"text": &text, "flag": &flag})
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
			require.Equal(t, 400, outside(err).status)
		})
	}
}

func clip(s string) string { return s[:min(len(s), 40)] }

// FuzzDecode: what is accepted, encoding/json reads as the same; nothing
// panics, and every refusal is a 400.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"text":"a","flag":true}`, `{"text":"\u00e4\ud83d\ude00"}`, `{"text":"a","text":"b"}`, `{"Text":1}`, `nul`, "{\"text\":\"\xc3\"}", `{"flag":[{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var text string
		var flag bool
		had, err := decode(body, members{"text": &text, "flag": &flag})
		if err != nil {
			require.Equal(t, 400, outside(err).status)
			return
		}
		var same map[string]any
		require.NoError(t, stdjson.Unmarshal(body, &same))
		require.Len(t, same, len(had))
		if had["text"] {
			require.Equal(t, same["text"], text)
		}
		if had["flag"] {
			require.Equal(t, same["flag"], flag)
		}
	})
}

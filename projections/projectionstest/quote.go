package projectionstest

import "github.com/go-json-experiment/json/jsontext"

// quote returns text as a JSON string; bytes that are not UTF-8 become U+FFFD.
func quote(text string) string {
	b, _ := jsontext.AppendQuote(nil, text) // the error reports what was replaced
	return string(b)
}

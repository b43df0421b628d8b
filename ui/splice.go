package ui

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/ui/visible"
)

// maxFields is how many arguments get a field of their own to be changed in.
const maxFields = 3

// fieldView is an argument of several lines, in a field as the tool reads it.
type fieldView struct {
	Name  []visible.Span
	Plain string
	Value string // the name, for the form
	Text  string
	Lines string // how many it has, where a field does not show all
}

// fieldsOf are the arguments that are better changed as text than inside JSON:
// those of several lines, in which a text field keeps every character.
func fieldsOf(text string) []fieldView {
	all, _ := members([]byte(text))
	var out []fieldView
	for _, m := range all {
		s, ok := m.text()
		keeps := ok && strings.Contains(s, "\n") && !strings.Contains(s, "\r") && visible.Show([]byte(s), len(s)*8, 0).Hidden == 0
		if !keeps || visible.Escaped(m.Name) != m.Name || len(out) == maxFields {
			continue
		}
		f := fieldView{Name: visibleName(m.Name), Plain: plainName(m.Name), Value: m.Name, Text: s}
		if n := strings.Count(s, "\n") + 1; n > fieldRows {
			f.Lines = ", " + group(n) + " lines"
		}
		out = append(out, f)
	}
	return out
}

// spliced puts another string in the place of one argument, and leaves every
// other byte as it is; ok is false where there is no such argument.
func spliced(text []byte, name, value string) (out []byte, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, false
	}
	for d.PeekKind() == '"' {
		tok, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		found := tok.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		if !found {
			continue
		}
		quoted, err := jsontext.AppendQuote(nil, value)
		end := int(d.InputOffset())
		return slices.Concat(text[:end-len(v)], quoted, text[end:]), err == nil
	}
	return nil, false
}

package ui

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
)

// argument is one member of a call's arguments, as it is written.
type argument struct {
	Name  string         // decoded
	Label jsontext.Value // the name as it is written
	Value jsontext.Value
	str   *string // decoded, where it is a string
}

// text is the decoded string of an argument that is one.
func (m argument) text() (string, bool) {
	if m.str == nil {
		return "", false
	}
	return *m.str, true
}

// decoded fills in the string of an argument that is one.
func (m argument) decoded() argument {
	if m.Value.Kind() != '"' {
		return m
	}
	if b, err := jsontext.AppendUnquote(nil, m.Value); err == nil {
		s := string(b)
		m.str = &s
	}
	return m
}

// members are those of arguments, in the order in which the model wrote them;
// ok is false where the text is no valid arguments.
func members(text []byte) (all []argument, ok bool) {
	args, err := events.DecodeArguments(text)
	if err != nil {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(args.Text))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() == '"' {
		label, err := d.ReadValue()
		label = slices.Clone(label)
		value, err2 := d.ReadValue()
		name, err3 := jsontext.AppendUnquote(nil, label)
		if errors.Join(err, err2, err3) != nil {
			return nil, false
		}
		all = append(all, argument{Name: string(name), Label: label, Value: slices.Clone(value)}.decoded())
	}
	_, err = d.ReadToken()
	return all, err == nil || errors.Is(err, io.EOF)
}

// named returns the text of the first of these members that is a string.
func named(all []argument, names ...string) (argument, string, bool) {
	for _, name := range names {
		for _, m := range all {
			if m.Name != name {
				continue
			}
			if s, ok := m.text(); ok {
				return m, s, true
			}
		}
	}
	return argument{}, "", false
}

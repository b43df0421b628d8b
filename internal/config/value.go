package config

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// value is one value of the file, at its place.
type value struct {
	file string // as the user named it
	line int    // of the key, or of the element of a list
	key  string // dotted
	node *yaml.Node
}

// place says where v is, for people.
func (v value) place() string { return fmt.Sprintf("%s:%d: key %s", v.file, v.line, v.key) }

// errorf returns an error at v.
func (v value) errorf(format string, args ...any) error { return v.wrap(fmt.Errorf(format, args...)) }

// wrap returns what a parser said as an error at v.
func (v value) wrap(err error) error {
	if errors.Is(err, ErrNotInVersion) {
		return problem(fmt.Sprintf("%s:%d: %s", v.file, v.line, v.key), err)
	}
	return problem(v.place(), err)
}

// fields are the keys that a map may have, each with what reads it.
type fields map[string]func(value) error

// read gives every entry of the map v to its reader, in the order of the file.
func (v value) read(known fields) error {
	entries, err := v.entries()
	if err != nil {
		return err
	}
	for name, entry := range entries {
		reader, ok := known[name]
		if !ok {
			return entry.errorf("expected one of %s; correct the name or remove the key", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err := reader(entry); err != nil {
			return err
		}
	}
	return nil
}

// entries ranges over a map in the order of the file. Parsing has made sure that
// keys are text and unique.
func (v value) entries() (iter.Seq2[string, value], error) {
	if v.node.Kind != yaml.MappingNode {
		return nil, v.errorf("expected a map of keys, found %s", v.found())
	}
	return func(yield func(string, value) bool) {
		for i := 0; i+1 < len(v.node.Content); i += 2 {
			name, node := v.node.Content[i], v.node.Content[i+1]
			if !yield(name.Value, value{v.file, name.Line, join(v.key, name.Value), node}) {
				return
			}
		}
	}, nil
}

// has reports whether the map v has a key.
func (v value) has(name string) bool {
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		if v.node.Content[i].Value == name {
			return true
		}
	}
	return false
}

// need refuses a map without the keys.
func (v value) need(names ...string) error {
	for _, name := range names {
		if !v.has(name) {
			return v.errorf("expected the key %s", name)
		}
	}
	return nil
}

// list returns the elements of a list.
func (v value) list() ([]value, error) {
	if v.node.Kind != yaml.SequenceNode {
		return nil, v.errorf("expected a list, found %s", v.found())
	}
	elements := make([]value, len(v.node.Content))
	for i, node := range v.node.Content {
		elements[i] = value{v.file, node.Line, fmt.Sprintf("%s[%d]", v.key, i), node}
	}
	return elements, nil
}

// text returns a scalar that YAML reads as text.
func (v value) text() (string, error) {
	if v.node.Kind != yaml.ScalarNode || v.node.ShortTag() != "!!str" {
		return "", v.errorf("expected text, found %s", v.found())
	}
	return v.node.Value, nil
}

// number returns the digits of a scalar that YAML reads as a whole number.
func (v value) number() (string, error) {
	if v.node.Kind != yaml.ScalarNode || v.node.ShortTag() != "!!int" {
		return "", v.errorf("expected a whole number, found %s", v.found())
	}
	return v.node.Value, nil
}

// truth returns a boolean.
func (v value) truth() (bool, error) {
	if v.node.Kind != yaml.ScalarNode || v.node.ShortTag() != "!!bool" {
		return false, v.errorf("expected true or false, found %s", v.found())
	}
	return strings.EqualFold(v.node.Value, "true"), nil
}

// truthText returns a boolean as a flag says it.
func (v value) truthText() (string, error) {
	truth, err := v.truth()
	return strconv.FormatBool(truth), err
}

// durationText returns text that may be a duration. A bare number is the usual
// mistake, and not a matter of quotes.
func (v value) durationText() (string, error) {
	if v.node.Kind == yaml.ScalarNode && (v.node.ShortTag() == "!!int" || v.node.ShortTag() == "!!float") {
		return "", v.errorf("expected a duration such as 90s or 3m, found %s without a unit", clip(v.node.Value))
	}
	return v.text()
}

// found names what is there instead.
func (v value) found() string {
	switch {
	case v.node.Kind == yaml.MappingNode:
		return "a map"
	case v.node.Kind == yaml.SequenceNode:
		return "a list"
	case v.node.ShortTag() == "!!null":
		return "nothing; give a value or remove the key"
	case v.node.ShortTag() == "!!str":
		return "the text " + clip(v.node.Value)
	default:
		head, dots := cut(v.node.Value)
		return head + dots + " (text needs quotes)"
	}
}

// parsed reads text and parses it into target.
func parsed[T any](v value, target *T, parse func(string) (T, error)) error {
	s, err := v.text()
	if err != nil {
		return err
	}
	got, err := parse(s)
	if err != nil {
		return v.wrap(err)
	}
	*target = got
	return nil
}

// into makes a reader of text out of a parser and its target.
func into[T any](target *T, parse func(string) (T, error)) func(value) error {
	return func(v value) error { return parsed(v, target, parse) }
}

// intoDuration makes a reader of a duration out of its bounds and its target.
func intoDuration(target *time.Duration, least, most time.Duration) func(value) error {
	return func(v value) error {
		if _, err := v.durationText(); err != nil {
			return err
		}
		return parsed(v, target, func(s string) (time.Duration, error) { return parseDuration(s, least, most) })
	}
}

// intoList makes a reader of a list of distinct texts. An empty list is not nil.
func intoList[T comparable](target *[]T, parse func(string) (T, error)) func(value) error {
	return func(v value) error {
		elements, err := v.list()
		if err != nil {
			return err
		}
		*target = make([]T, len(elements))
		for i, element := range elements {
			if err := parsed(element, &(*target)[i], parse); err != nil {
				return err
			}
			if slices.Contains((*target)[:i], (*target)[i]) {
				return element.errorf("expected each entry once, found %s again", clip(fmt.Sprint((*target)[i])))
			}
		}
		return nil
	}
}

// join writes a key below another. Names that are not plain are quoted, so that
// a message stays one line.
func join(parent, name string) string {
	if name == "" || len(name) > 80 || !isWord(name) {
		name = clip(name)
	}
	if parent == "" {
		return name
	}
	return parent + "." + name
}

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// oracle says whether a document is accepted.
type oracle func(doc []byte) bool

// place is where an object stands: in which sample, along which path of member
// names and array indexes.
type place struct {
	sample  []byte
	ask     oracle
	path    []any
	members int // how many the object has there
}

// absent, as a value, takes a member away.
type absent struct{}

// accepts reports whether the sample is accepted with one member of the place
// set to a value, or any of the other members named taken away beside it.
func (p place) accepts(member string, value any, orWithout ...string) bool {
	if p.acceptsAll(map[string]any{member: value}) {
		return true
	}
	return slices.ContainsFunc(orWithout, func(other string) bool {
		return other != member && p.acceptsAll(map[string]any{member: value, other: absent{}})
	})
}

func (p place) acceptsAll(members map[string]any) bool {
	doc, err := decode(p.sample)
	if err != nil {
		return false
	}
	object, ok := at(doc, p.path).(map[string]any)
	if !ok {
		return false
	}
	maps.Copy(object, members)
	maps.DeleteFunc(object, func(_ string, v any) bool { return v == absent{} })
	b, err := json.Marshal(doc)
	return err == nil && p.ask(b)
}

// decode keeps the digits of numbers.
func decode(b []byte) (any, error) {
	var doc any
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber()
	err := dec.Decode(&doc)
	return doc, err
}

func at(doc any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := doc.(map[string]any)
			doc = object[step]
		case int:
			array, _ := doc.([]any)
			if step >= len(array) {
				return nil
			}
			doc = array[step]
		}
	}
	return doc
}

// wrap puts a value where it is asked about: in a list, for the elements of
// one.
type wrap func(v any) any

func plain(v any) any  { return v }
func listed(v any) any { return []any{v} }

// text returns what the decoder asks of a string.
func (p place) text(member string, w wrap, optional, candidates []string) (*schema, error) {
	ok := func(s string) bool { return p.accepts(member, w(s), optional...) }
	s := &schema{Type: "string"}
	switch {
	case ok("any text at all"):
		if !ok("") {
			s.MinLength = 1
		}
		for _, bound := range []int{256, 512} {
			if ok(strings.Repeat("x", bound)) && !ok(strings.Repeat("x", bound+1)) {
				s.MaxLength = bound
				return s, nil
			}
		}
		return nil, fmt.Errorf("the decoder does not bound the string %q", member)
	case ok(strings.Repeat("0af7", 16)):
		s.Pattern = "^[0-9a-f]{64}$"
	case ok("7"):
		s.Pattern = "^(0|[1-9][0-9]{0,19})$"
	default:
		s.Enum = slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !ok(c) })
		if len(s.Enum) == 0 {
			return nil, fmt.Errorf("no constant is a value of the string %q", member)
		}
	}
	return s, nil
}

// number returns what the decoder asks of an integer.
func (p place) number(member string, limit int64) *schema {
	s := &schema{Type: "integer"}
	for _, n := range []int64{-1, 0, 1} {
		if p.accepts(member, n) {
			if n >= 0 {
				s.Minimum = &n
			}
			break
		}
	}
	for _, n := range []int64{1<<16 - 1, 1 << 16, limit} {
		if n > 0 && p.accepts(member, n) && !p.accepts(member, n+1) {
			s.Maximum = &n
			break
		}
	}
	return s
}
